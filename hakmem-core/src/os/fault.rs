//! Failure injection: lets a test make the n-th fallible system call from now fail, or put something else before it.
//!
//! A *site* is a line of the layers above that calls `os`; what was made to fail is kept by site and kind of call.

use super::Call;
use core::mem::transmute;
use core::panic::Location;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::SeqCst};

const OFF: u64 = u64::MAX;

/// `n << 1`, and 1 for "all that follow too".
static PLAN: AtomicU64 = AtomicU64::new(OFF);
/// An `fn()` to run before the n-th call instead of making it fail.
static ACTION: AtomicPtr<()> = AtomicPtr::new(null_mut());
static SEEN: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicU64 = AtomicU64::new(0);
static INTERRUPTED: AtomicU64 = AtomicU64::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);

struct Site {
    at: AtomicPtr<Location<'static>>,
    /// One bit for each [`Call`] that failed there.
    kinds: AtomicU64,
}

const SITES: usize = 64;
static FAILED_SITES: [Site; SITES] = [const {
    Site {
        at: AtomicPtr::new(null_mut()),
        kinds: AtomicU64::new(0),
    }
}; SITES];

/// Makes the `n`-th call from now fail (0 is the next one), and with `all` also every one after it.
pub fn fail_nth(n: u64, all: bool) {
    plan(n << 1 | all as u64, null_mut());
}

/// Runs `action` before the `n`-th call from now, on the thread that makes it, as a signal handler would. The action may
/// make a plan of its own.
pub fn interrupt_nth(n: u64, action: fn()) {
    plan(n << 1, action as *mut ());
}

fn plan(plan: u64, action: *mut ()) {
    SEEN.store(0, SeqCst);
    FAILED.store(0, SeqCst);
    LOST.store(0, SeqCst);
    ACTION.store(action, SeqCst);
    PLAN.store(plan, SeqCst);
}

/// What happened since the plan was made.
pub struct Toll {
    pub seen: u64,
    /// Calls that failed, and one that was interrupted.
    pub failed: u64,
    /// Bytes that were to be unmapped in calls that failed.
    pub kept_mapped: u64,
}

/// Ends the injection.
pub fn stop() -> Toll {
    PLAN.store(OFF, SeqCst);
    Toll {
        seen: SEEN.load(SeqCst),
        failed: FAILED.load(SeqCst) + INTERRUPTED.swap(0, SeqCst),
        kept_mapped: LOST.load(SeqCst),
    }
}

/// Visits every site, with file and line, and every kind of call that was ever made to fail there.
pub fn each_failed(mut f: impl FnMut(&str, u32, Call)) {
    for site in &FAILED_SITES {
        // SAFETY: INV-HOOK: a location is part of the program.
        let Some(at) = (unsafe { site.at.load(SeqCst).as_ref() }) else {
            return;
        };
        for kind in Call::ALL {
            if site.kinds.load(SeqCst) & 1 << kind as u64 != 0 {
                f(at.file(), at.line(), kind);
            }
        }
    }
}

fn note(at: &'static Location<'static>, call: Call) {
    let new = (&raw const *at).cast_mut();
    for site in &FAILED_SITES {
        let held = site.at.compare_exchange(null_mut(), new, SeqCst, SeqCst);
        if held.is_ok() || held == Err(new) {
            site.kinds.fetch_or(1 << call as u64, SeqCst);
            return;
        }
    }
}

#[track_caller]
pub(super) fn refuse(call: Call, len: usize) -> bool {
    let plan = PLAN.load(SeqCst);
    if plan == OFF {
        return false;
    }
    let seen = SEEN.fetch_add(1, SeqCst);
    let (n, all) = (plan >> 1, plan & 1 == 1);
    if seen != n && !(all && seen > n) {
        return false;
    }
    let action = ACTION.load(SeqCst);
    if !action.is_null() {
        PLAN.store(OFF, SeqCst);
        INTERRUPTED.store(1, SeqCst);
        // SAFETY: INV-HOOK: only `interrupt_nth` stores here.
        unsafe { transmute::<*mut (), fn()>(action)() };
        return false;
    }
    FAILED.fetch_add(1, SeqCst);
    if call == Call::Unmap {
        LOST.fetch_add(len as u64, SeqCst);
    }
    note(Location::caller(), call);
    true
}
