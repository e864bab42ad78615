//! The workloads of `hak bench`: programs of `bench-c/` with their parameters.

use anyhow::Result;

use crate::names;

/// A program of `bench-c/` and its arguments; the name says what is special about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    pub name: &'static str,
    pub program: &'static str,
    pub args: &'static str,
}

pub struct Suite {
    pub name: &'static str,
    pub summary: &'static str,
    pub rounds: usize,
    pub items: &'static [Item],
}

const fn item(name: &'static str, program: &'static str, args: &'static str) -> Item {
    Item {
        name,
        program,
        args,
    }
}

pub const SUITES: [Suite; 3] = [
    Suite {
        name: "quick",
        summary: "one workload of each kind, in about a minute",
        rounds: 5,
        items: &[
            item("mixed-256", "bench_random_mixed", "2000000 256 42"),
            item("tiny-hot-16", "bench_tiny_hot", "16 100 60000"),
            item("tiny-mt", "bench_tiny_mt", "2 1500000"),
            item("mid-mt", "test_mf2", "2 50000"),
            item("hand-over", "bench_producer_consumer", "1 600000"),
            item("larson", "bench_larson", "2 20"),
        ],
    },
    Suite {
        name: "seeds",
        summary: "random sizes over four seeds and five working sets",
        rounds: 10,
        items: &[
            item("mixed-100-s42", "bench_random_mixed", "4000000 100 42"),
            item("mixed-256-s42", "bench_random_mixed", "4000000 256 42"),
            item("mixed-256-s1", "bench_random_mixed", "4000000 256 1"),
            item("mixed-256-s7", "bench_random_mixed", "4000000 256 7"),
            item("mixed-256-s1234", "bench_random_mixed", "4000000 256 1234"),
            item("mixed-400-s42", "bench_random_mixed", "4000000 400 42"),
            item("mixed-20k-s42", "bench_random_mixed", "2000000 20000 42"),
            item("mixed-20k-s7", "bench_random_mixed", "2000000 20000 7"),
            item("mixed-1m-s42", "bench_random_mixed", "2000000 1000000 42"),
        ],
    },
    Suite {
        name: "full",
        summary: "every benchmark program, small and large, one and several threads",
        rounds: 10,
        items: &[
            item("mixed-100", "bench_random_mixed", "4000000 100 42"),
            item("mixed-256", "bench_random_mixed", "4000000 256 42"),
            item("mixed-400", "bench_random_mixed", "4000000 400 42"),
            item("mixed-20k", "bench_random_mixed", "2000000 20000 42"),
            item("mixed-1m", "bench_random_mixed", "2000000 1000000 42"),
            item("tiny-hot-16", "bench_tiny_hot", "16 100 100000"),
            item("tiny-hot-64", "bench_tiny_hot", "64 100 100000"),
            item("tiny-hot-64-1000", "bench_tiny_hot", "64 1000 10000"),
            item("tiny-hot-512-fifo", "bench_tiny_hot", "512 100 100000 fifo"),
            item("tiny", "bench_tiny", "8000000"),
            item("tiny-mt-2", "bench_tiny_mt", "2 4000000"),
            item("tiny-mt-8", "bench_tiny_mt", "8 1000000"),
            item("mid-mt-2", "test_mf2", "2 150000"),
            item("hand-over-1", "bench_producer_consumer", "1 1500000"),
            item("hand-over-2", "bench_producer_consumer", "2 800000"),
            item("larson-2", "bench_larson", "2 60"),
            item("cache-scratch", "bench_cache_scratch", "2 10000"),
            item("large-set", "bench_large_set", "500000 500000"),
            item(
                "mass-free-in-order",
                "bench_mass_free",
                "500000 64 in-order 4",
            ),
            item(
                "mass-free-reverse",
                "bench_mass_free",
                "500000 64 reverse 4",
            ),
            item("mass-free-random", "bench_mass_free", "500000 64 random 2"),
            item("realloc-append", "bench_realloc", "8 16 1048576 append"),
            item(
                "realloc-geometric",
                "bench_realloc",
                "60 16 1048576 geometric",
            ),
            item("calloc-large", "bench_calloc", "600"),
            item("thread-churn", "bench_thread_churn", "2000"),
        ],
    },
];

pub fn find(name: &str) -> Result<&'static Suite> {
    let valid: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
    SUITES
        .iter()
        .find(|s| s.name == name)
        .ok_or_else(|| names::unknown("suite", name, &valid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::bootstrap::MIN_ROUNDS;

    #[test]
    fn suites_are_named_well_and_run_often_enough() {
        for suite in &SUITES {
            assert!(
                suite.rounds >= MIN_ROUNDS && !suite.items.is_empty(),
                "{}",
                suite.name
            );
            let mut names: Vec<_> = suite.items.iter().map(|i| i.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(
                names.len(),
                suite.items.len(),
                "{}: names are unique",
                suite.name
            );
        }
        assert!(find("full").is_ok());
        let error = find("ful").err().map(|e| e.to_string());
        assert_eq!(
            error.as_deref(),
            Some("unknown suite 'ful'; did you mean 'full'?")
        );
    }

    #[test]
    fn the_full_suite_uses_every_benchmark_program() {
        let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../bench-c");
        let full = find("full").unwrap();
        for entry in std::fs::read_dir(sources).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "c") {
                let stem = path.file_stem().unwrap().to_str().unwrap();
                assert!(
                    full.items.iter().any(|i| i.program == stem),
                    "{stem} is measured"
                );
            }
        }
    }
}
