//! A session of measurements: contestants, workloads, rounds, and what came of them.
//!
//! `hak bench` and `hak ab` differ in what they run; everything else is here. `runner` produces
//! runs, `summary` turns them into rows with verdicts, `store` keeps sessions and compares them.

pub mod data;
#[cfg(test)]
pub mod fixture;
pub mod metric;
pub mod runner;
pub mod store;
pub mod summary;

pub use data::{Built, Contestant, Discarded, Row, Run, Session, Workload};
pub use metric::Metric;
