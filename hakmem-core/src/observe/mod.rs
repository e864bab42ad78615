//! Statistics and checks: read-only views of everything below.

mod check;
pub mod format;
mod snapshot;

pub use check::check;
pub use snapshot::{ClassStat, ColdCounts, OsCounts, Snapshot, snapshot};
