//! A heap: the slabs that one thread owns, or that dead threads left behind.
//!
//! Knows `slab`. A heap's lock guards its slabs. The owning thread takes it on cold paths only, and nearly always finds
//! it free: others take it to drain an idle owner's announced slabs, to walk the heap for statistics, and to fork.
//!
//! Heaps are never unmapped, so whoever reads a slab's owner may use it, even if the slab has moved on meanwhile.

mod audit;
mod lists;
mod locked;
mod orphans;
mod registry;

pub use locked::{Fault, LockedHeap};
pub use orphans::{ORPHANS, finish as finish_orphans, help};
pub use registry::{each, publish, raw_lock as registry_lock, with_registry_locked};

use crate::base::size_class::NUM_CLASSES;
use crate::segment::shard::{self, Shard};
use crate::slab::remote::DirtyStack;
use crate::slab::{self, Owner};
use crate::sync::atomic::{AtomicPtr, AtomicU32};
use crate::sync::{Lock, Rank};
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use lists::ClassSlabs;

/// Announced granules at which others help an owner: at least this many, and an eighth of what it owns.
const HELP_FLOOR: u32 = 8;
const HELP_SHARE: u32 = 8;

/// `owner` comes first, so that a pointer to it is a pointer to the heap.
#[repr(C, align(64))]
pub struct Heap {
    pub owner: Owner,
    lock: Lock,
    slabs: UnsafeCell<Slabs>,
    /// The next of all heaps; written before the heap is published.
    next: AtomicPtr<Heap>,
}

/// Guarded by the heap's lock.
struct Slabs {
    classes: [ClassSlabs; NUM_CLASSES],
    granules: u32,
}

// SAFETY: INV-HEAP: `slabs` is reached only through a `LockedHeap`; the rest is atomic or constant.
unsafe impl Sync for Heap {}

impl Heap {
    pub const fn new(number: u32, rank: Rank) -> Heap {
        Heap {
            owner: Owner {
                dirty: DirtyStack::new(),
                number,
                help_at: AtomicU32::new(HELP_FLOOR),
            },
            lock: Lock::new(rank),
            slabs: UnsafeCell::new(Slabs {
                classes: [const { ClassSlabs::new() }; NUM_CLASSES],
                granules: 0,
            }),
            next: AtomicPtr::new(null_mut()),
        }
    }

    fn shard(&self) -> &'static Shard {
        shard::of_owner(self.owner.number)
    }

    /// The lock itself, for the fork handlers.
    pub fn raw_lock(&self) -> &Lock {
        &self.lock
    }

    /// Announces every slab that holds remote frees. Only while no other thread exists.
    fn announce_again(&self) {
        // Not to be had, the forking thread is a signal handler inside of this very heap, which it may find torn.
        let Some(locked) = self.try_lock() else {
            return;
        };
        self.owner.dirty.take_all();
        locked.each_slab(|slab| {
            if slab.is_dirty() {
                // SAFETY: INV-RECORD: nobody else is there to have the duty.
                unsafe { slab::announce((&raw const *slab).cast_mut()) };
            }
        });
    }
}

/// In a forked child, before any lock is released: a thread that is gone may have had an announcement in hand. So all of
/// them are dropped and made again.
pub fn after_fork_in_child() {
    slab::forget_announcements();
    each(Heap::announce_again);
}
