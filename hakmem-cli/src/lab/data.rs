//! What a session consists of, in memory and in report.json.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Metric;
use crate::{
    allocator::{self, Allocator},
    measure::{
        Exit, Usage,
        machine::{Commit, Machine},
    },
    stats::{Interval, Verdict},
};

/// Version of the layout of report.json.
pub const SCHEMA: u32 = 1;

/// An allocator as it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contestant {
    pub label: String,
    pub library: Option<PathBuf>,
    pub sha256: Option<String>,
    /// What the allocator says about itself, or the manifest of the peers.
    pub version: String,
}

impl Contestant {
    pub fn new(allocator: &Allocator, version: Option<String>) -> Contestant {
        let sum = |path: &PathBuf| allocator::checksum(path).ok();
        Contestant {
            label: allocator.label.clone(),
            library: allocator.library.clone(),
            sha256: allocator.library.as_ref().and_then(sum),
            version: version.unwrap_or_default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    pub name: String,
    pub command: Vec<String>,
}

/// One run, counted or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub workload: String,
    pub allocator: String,
    pub round: usize,
    /// Place in the random order of the session.
    pub position: usize,
    /// The baseline's second run of the round, for the noise.
    pub again: bool,
    pub exit: Exit,
    pub usage: Usage,
    pub ns_per_op: Option<f64>,
    pub number: Option<f64>,
    /// Of the program's work; the same on every allocator.
    pub checksum: Option<String>,
    /// CPUs that others kept busy meanwhile.
    pub others: f64,
    /// Why the run does not count; empty if it does.
    pub discarded: Option<String>,
}

/// A figure of one contestant in one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub workload: String,
    pub allocator: String,
    pub metric: Metric,
    /// Runs that count.
    pub runs: usize,
    pub median: f64,
    /// Against the baseline; less than 1 is better.
    pub ratio: Option<Interval>,
    /// Of the baseline against itself, as a fraction.
    pub noise: Option<f64>,
    pub verdict: Option<Verdict>,
}

/// Something that was not measured, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discarded {
    pub allocator: String,
    /// `None`: in no workload.
    pub workload: Option<String>,
    pub reason: String,
}

/// How the measured library came to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Built {
    pub how: String,
    pub command: String,
    pub message: String,
    /// Name of each check and what it said.
    pub verification: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub schema: u32,
    pub title: String,
    pub created: String,
    pub command: String,
    pub commit: Commit,
    pub built: Built,
    pub machine: Machine,
    pub seed: u64,
    pub rounds: usize,
    pub baseline: String,
    /// The figure that the verdict is mainly about.
    pub headline: Metric,
    pub contestants: Vec<Contestant>,
    pub workloads: Vec<Workload>,
    pub rows: Vec<Row>,
    pub discarded: Vec<Discarded>,
    pub warnings: Vec<String>,
    pub runs: Vec<Run>,
}

impl Session {
    pub fn row(&self, workload: &str, allocator: &str, metric: Metric) -> Option<&Row> {
        self.rows.iter().find(|row| {
            row.workload == workload && row.allocator == allocator && row.metric == metric
        })
    }

    /// (baseline, other) of every round in which both count.
    pub fn pairs(&self, workload: &str, other: &str, metric: Metric) -> Vec<(f64, f64)> {
        // The baseline against itself is its first run against its second.
        let again = other == self.baseline;
        let counted = |run: &&Run| run.workload == workload && run.discarded.is_none();
        let runs: Vec<&Run> = self.runs.iter().filter(counted).collect();
        let value = |allocator: &str, again: bool, round: usize| {
            let is_it =
                |r: &&&Run| r.round == round && r.again == again && r.allocator == allocator;
            metric.of(runs.iter().find(is_it)?)
        };
        let pair = |round| {
            Some((
                value(&self.baseline, false, round)?,
                value(other, again, round)?,
            ))
        };
        (0..self.rounds).filter_map(pair).collect()
    }
}
