//! The list of all heaps, for whoever must visit each: fork, statistics, checks.

use super::{Heap, ORPHANS};
use crate::sync::atomic::{AtomicPtr, Ordering::*};
use crate::sync::{Lock, Rank};
use core::ptr::null_mut;

static ALL: AtomicPtr<Heap> = AtomicPtr::new(null_mut());
/// Held while a heap is added, so that no heap appears during a fork.
static LOCK: Lock = Lock::new(Rank::Registry);

/// Runs `f` while no heap can be added.
pub fn with_registry_locked<T>(f: impl FnOnce() -> T) -> T {
    let _guard = LOCK.lock();
    f()
}

/// The registry's lock itself, for the fork handlers.
pub fn raw_lock() -> &'static Lock {
    &LOCK
}

/// Adds a heap for good.
///
/// # Safety
/// The heap is complete and never unmapped; the registry is locked.
pub unsafe fn publish(heap: *mut Heap) {
    // SAFETY: INV-HEAP: as the caller promises.
    unsafe { (*heap).next.store(ALL.load(Relaxed), Relaxed) };
    ALL.store(heap, Release);
}

/// Visits every thread's heap, then the heap of orphans.
pub fn each(mut f: impl FnMut(&'static Heap)) {
    let mut next = ALL.load(Acquire);
    // SAFETY: INV-HEAP: published heaps are complete and never unmapped.
    while let Some(heap) = unsafe { next.as_ref() } {
        f(heap);
        next = heap.next.load(Acquire);
    }
    f(&ORPHANS);
}
