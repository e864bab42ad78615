//! Slabs whose threads are gone, and owners that are idle.
//!
//! A thread that ends hands its slabs to the heap of orphans, from which any heap that needs a slab adopts first. The
//! same heap serves allocations of threads that are past their end.

use super::{Heap, LockedHeap};
use crate::slab::{Owner, Slab};
use crate::sync::Rank;
use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Owner 1: no thread's.
pub static ORPHANS: Heap = {
    let mut heap = Heap::new(1, Rank::Orphans);
    // Nobody else will drain these, so those who free do it early.
    heap.owner.help_at = AtomicU32::new(8);
    heap
};

/// Takes over an orphaned slab of `class` with free blocks for `heap`.
pub fn adopt(heap: &mut LockedHeap<'_>, class: usize) -> Option<&'static Slab> {
    if heap.is(&ORPHANS) || ORPHAN_GRANULES.load(Relaxed) == 0 {
        return None;
    }
    // Waits for the lock: a thread that passes by here maps new memory beside what the orphans have.
    let mut orphans = ORPHANS.lock();
    orphans.drain();
    let slab = orphans.give_away(class, heap);
    heap.note(finish(orphans));
    slab
}

/// A hint that saves taking the lock when there is nothing to adopt.
static ORPHAN_GRANULES: AtomicU32 = AtomicU32::new(0);

/// Releases the heap of orphans. A fault found in it is the business of whoever found it: nobody else will.
#[must_use]
pub fn finish(orphans: LockedHeap<'_>) -> Option<super::Fault> {
    ORPHAN_GRANULES.store(orphans.granules(), Relaxed);
    orphans.unlock()
}

/// Drains the announced slabs of an owner that does not come to it; nothing happens if it is at work just now.
#[cold]
pub fn help(owner: &'static Owner) -> Option<super::Fault> {
    // SAFETY: INV-HEAP: every Owner is the first field of a Heap.
    let heap: &Heap = unsafe { &*(&raw const *owner).cast() };
    let mut locked = heap.try_lock()?;
    locked.drain();
    if locked.is(&ORPHANS) {
        finish(locked)
    } else {
        locked.unlock()
    }
}
