//! Statistics and checks: read-only views of everything below.

mod check;
mod snapshot;
pub mod format;

pub use check::check;
pub use snapshot::{ClassStat, ColdCounts, OsCounts, Snapshot, snapshot};
