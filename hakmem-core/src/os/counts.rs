//! Exact counts of the system calls made, for statistics and for tests that gate on them.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Calls by kind since the process began, and the bytes mapped now.
pub struct Counts {
    pub map: AtomicU64,
    pub unmap: AtomicU64,
    pub purge: AtomicU64,
    pub purge_failed: AtomicU64,
    pub remap: AtomicU64,
    pub advise: AtomicU64,
    pub mapped_bytes: AtomicU64,
}

pub static COUNTS: Counts = Counts {
    map: AtomicU64::new(0),
    unmap: AtomicU64::new(0),
    purge: AtomicU64::new(0),
    purge_failed: AtomicU64::new(0),
    remap: AtomicU64::new(0),
    advise: AtomicU64::new(0),
    mapped_bytes: AtomicU64::new(0),
};

impl Counts {
    pub(super) fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Relaxed);
    }

    pub(super) fn sub(counter: &AtomicU64, n: u64) {
        counter.fetch_sub(n, Relaxed);
    }
}
