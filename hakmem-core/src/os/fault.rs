//! Failure injection: lets a test make the n-th fallible system call from now fail.

use super::Call;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

const OFF: u64 = u64::MAX;

static UNTIL_FAILURE: AtomicU64 = AtomicU64::new(OFF);
static SEEN: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicU64 = AtomicU64::new(0);
static KINDS_FAILED: AtomicU64 = AtomicU64::new(0);

/// Makes the `n`-th call from now fail (0 is the next one), and with `all` also every one after it.
pub fn fail_nth(n: u64, all: bool) {
    SEEN.store(0, SeqCst);
    FAILED.store(0, SeqCst);
    UNTIL_FAILURE.store(n << 1 | all as u64, SeqCst);
}

/// Ends the injection; returns the calls seen and how many of them were made to fail.
pub fn stop() -> (u64, u64) {
    UNTIL_FAILURE.store(OFF, SeqCst);
    (SEEN.load(SeqCst), FAILED.load(SeqCst))
}

/// The kinds of call that were ever made to fail, one bit each in the order of [`Call`].
pub fn kinds_failed() -> u64 {
    KINDS_FAILED.load(SeqCst)
}

pub(super) fn refuse(call: Call) -> bool {
    let setting = UNTIL_FAILURE.load(SeqCst);
    if setting == OFF {
        return false;
    }
    let seen = SEEN.fetch_add(1, SeqCst);
    let (n, all) = (setting >> 1, setting & 1 == 1);
    let fail = seen == n || (all && seen > n);
    if fail {
        FAILED.fetch_add(1, SeqCst);
        KINDS_FAILED.fetch_or(1 << call as u64, SeqCst);
    }
    fail
}
