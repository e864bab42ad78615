//! A small session for tests.

use super::{Built, Contestant, Metric, Run, Session, Workload, data::SCHEMA};
use crate::measure::{
    Exit, Usage,
    machine::{Commit, Machine},
};

pub fn run(allocator: &str, again: bool, round: usize, ns: f64) -> Run {
    Run {
        workload: "w".to_owned(),
        allocator: allocator.to_owned(),
        round,
        position: 0,
        again,
        exit: Exit::Code(0),
        usage: Usage {
            wall_ns: 1_000_000,
            user_us: 500,
            system_us: 400,
            max_rss_kib: 2048,
            minor_faults: 100,
            major_faults: 0,
            voluntary_switches: 1,
            involuntary_switches: 0,
        },
        ns_per_op: Some(ns),
        number: None,
        checksum: Some("c0".to_owned()),
        others: 0.0,
        discarded: None,
    }
}

/// Ten rounds in which `fast` takes `factor` of libc's time, with a jitter of 1 %.
pub fn session(factor: f64) -> Session {
    let contestant = |label: &str| Contestant {
        label: label.to_owned(),
        library: None,
        sha256: None,
        version: String::new(),
    };
    let jitter = |i: usize| 1.0 + (i * 7 % 10) as f64 / 1000.0;
    let runs = (0..10).flat_map(|r| {
        [
            run("libc", false, r, 10.0 * jitter(r)),
            run("libc", true, r, 10.0 * jitter(r + 3)),
            run("fast", false, r, 10.0 * factor * jitter(r + 5)),
        ]
    });
    Session {
        schema: SCHEMA,
        title: "test".to_owned(),
        created: String::new(),
        command: String::new(),
        commit: Commit {
            id: "0".to_owned(),
            dirty: false,
        },
        built: Built::default(),
        machine: Machine::here(),
        seed: 1,
        rounds: 10,
        baseline: "libc".to_owned(),
        headline: Metric::Time,
        contestants: vec![contestant("libc"), contestant("fast")],
        workloads: vec![Workload {
            name: "w".to_owned(),
            command: vec!["true".to_owned()],
        }],
        rows: Vec::new(),
        discarded: Vec::new(),
        warnings: Vec::new(),
        runs: runs.collect(),
    }
}
