//! Statistics and checks: read-only views of everything below.

#![forbid(unsafe_code)]

mod check;
pub mod format;
mod snapshot;

pub use check::check;
pub use snapshot::{ClassStat, ColdCounts, OsCounts, Snapshot, snapshot};
