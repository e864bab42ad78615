//! Random programs against a shadow heap: the kept corpus, then changed and new ones.
//!
//! HAKMEM_FUZZ_SECONDS sets how long, HAKMEM_FUZZ_SEED which. A program that fails is named by its seed, and
//! HAKMEM_FUZZ_ONE runs it alone; one whose threads take turns is also shrunk and written to a file, for the corpus.

mod common;
mod program;

use common::child::{self, End, Ended};
use hakmem_core::control;
use std::env;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Operations of a run without HAKMEM_FUZZ_SECONDS.
const OPERATIONS: u64 = if cfg!(debug_assertions) {
    200_000
} else {
    10_000_000
};
/// Programs that one process runs.
const BATCH: u64 = 4;
/// Streams of processes side by side.
const STREAMS: u64 = 2;
/// Shorter programs that are tried in place of one that fails.
const SHRINK_TRIES: usize = 500;

type Corpus = Vec<(PathBuf, Vec<u8>)>;

fn read_corpus() -> Corpus {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/program");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    assert!(files.len() > 10, "{} files", files.len());
    files
        .into_iter()
        .map(|file| {
            let bytes = fs::read(&file).expect("bytes");
            (file, bytes)
        })
        .collect()
}

struct Rng(u64);

impl Rng {
    /// A good start for every number.
    fn new(seed: u64) -> Rng {
        Rng((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 20) % n as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| (self.next() >> 40) as u8).collect()
    }

    /// Programs of the corpus one after the other, with changes here and there.
    fn changed(&mut self, corpus: &Corpus) -> Vec<u8> {
        let mut bytes = vec![];
        for _ in 0..1 << self.below(9) {
            bytes.extend(&corpus[self.below(corpus.len())].1);
        }
        for _ in 0..bytes.len() / 16 + 1 {
            let at = self.below(bytes.len() + 1);
            let end = (at + self.below(8)).min(bytes.len());
            let new = self.below(8);
            bytes.splice(at..end, self.bytes(new));
        }
        bytes
    }
}

enum Program {
    /// Threads take turns: it always does the same.
    Turns(Vec<u8>),
    AtOnce([Vec<u8>; 4]),
}

impl Program {
    fn of_seed(seed: u64, corpus: &Corpus) -> Program {
        let mut rng = Rng::new(seed);
        // A fault that programs by turns can find is found by one, and shrunk.
        match seed % 4 {
            0 => Program::Turns(rng.changed(corpus)),
            1 | 2 => {
                let len = 200 << rng.below(9);
                Program::Turns(rng.bytes(len))
            }
            _ => Program::AtOnce([(); 4].map(|()| rng.bytes(15_000))),
        }
    }

    /// Returns the number of operations.
    fn run(&self) -> u64 {
        match self {
            Program::Turns(bytes) => program::run(bytes, true),
            Program::AtOnce(programs) => program::run_at_once(programs),
        }
    }
}

/// Runs a program in a process of its own.
fn run_alone(bytes: &[u8]) -> Ended {
    child::run(|_| _ = program::run(bytes, true))
}

/// A program without the pieces that it does not need in order to fail.
fn shrink(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut tries = 0;
    let mut piece = bytes.len().div_ceil(2);
    while piece > 0 {
        let mut at = 0;
        while at < bytes.len() {
            if tries == SHRINK_TRIES {
                return bytes;
            }
            tries += 1;
            let mut shorter = bytes.clone();
            shorter.drain(at..(at + piece).min(bytes.len()));
            match run_alone(&shorter).end {
                End::Exit(0) => at += piece,
                _ => bytes = shorter,
            }
        }
        piece /= 2;
    }
    bytes
}

/// Says how to see a failure again.
fn report(seed: u64, program: Program, ended: &Ended) -> ! {
    let what = format!(
        "HAKMEM_FUZZ_ONE={seed} ends with {:?}: {}",
        ended.end, ended.stderr
    );
    match program {
        Program::Turns(bytes) if run_alone(&bytes).end != End::Exit(0) => {
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("program-{seed}"));
            fs::write(&file, shrink(bytes)).expect("a file");
            panic!("{what}\nshrunk: {}", file.display());
        }
        Program::Turns(_) => panic!("{what}\nbut not when it runs alone"),
        Program::AtOnce(_) => panic!("{what}"),
    }
}

/// Runs some seeds in a process of their own; returns the number of operations.
fn run_batch(seeds: Range<u64>, corpus: &Corpus) -> u64 {
    let ended = child::run(|answer| {
        control::init(&control::Options::default());
        for seed in seeds.clone() {
            let operations = Program::of_seed(seed, corpus).run();
            writeln!(answer, "{operations}").expect("a pipe");
        }
    });
    let counts: Vec<u64> = ended
        .answer
        .lines()
        .map(|count| count.parse().expect("a number"))
        .collect();
    if ended.end != End::Exit(0) {
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock();
        let seed = seeds.start + counts.len() as u64;
        report(seed, Program::of_seed(seed, corpus), &ended);
    }
    counts.iter().sum()
}

fn variable(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text}: expected a number")),
    )
}

#[test]
fn random_programs() {
    let _alone = common::alone();
    // In a forked child the stack of this thread is free for others.
    let corpus: &Corpus = Box::leak(Box::new(read_corpus()));
    if let Some(seed) = variable("HAKMEM_FUZZ_ONE") {
        control::init(&control::Options::default());
        Program::of_seed(seed, corpus).run();
        return;
    }
    let first = variable("HAKMEM_FUZZ_SEED").unwrap_or(0);
    let begin = Instant::now();
    let until = variable("HAKMEM_FUZZ_SECONDS").map(|seconds| begin + Duration::from_secs(seconds));
    let (batch, done, minutes) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let say = || {
        println!(
            "{} programs from seed {first}, {} operations in {:.1?}",
            BATCH * batch.load(Relaxed),
            done.load(Relaxed),
            begin.elapsed()
        );
    };
    thread::scope(|scope| {
        for _ in 0..STREAMS {
            scope.spawn(|| {
                while until.map_or(done.load(Relaxed) < OPERATIONS, |end| Instant::now() < end) {
                    let seed = first + BATCH * batch.fetch_add(1, Relaxed);
                    done.fetch_add(run_batch(seed..seed + BATCH, corpus), Relaxed);
                    // A long run that is stopped has said how far it came.
                    let minute = begin.elapsed().as_secs() / 60;
                    if minutes.fetch_max(minute, Relaxed) < minute {
                        say();
                    }
                }
            });
        }
    });
    say();
    assert!(until.is_some() || done.into_inner() >= OPERATIONS);
}

#[test]
fn corpus() {
    let _alone = common::alone();
    for (file, bytes) in read_corpus() {
        let ended = run_alone(&bytes);
        assert_eq!(
            ended.end,
            End::Exit(0),
            "{}: {}",
            file.display(),
            ended.stderr
        );
    }
}
