//! All fronts: those in use, those free for the next thread, and those whose thread a fork left behind.
//!
//! | state | meaning |
//! |---|---|
//! | free | on the free list, its heap owns nothing |
//! | live | a thread's |
//! | lost | its thread existed in the parent of this process only; its heap still owns slabs |

use super::enter::Entry;
use super::{Front, current};
use crate::base::size_class::NUM_CLASSES;
use crate::heap::{self, Fault, Heap, ORPHANS};
use crate::os;
use crate::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::*};
use core::cell::UnsafeCell;
use core::mem::{offset_of, size_of};
use core::ptr::{self, null_mut};

pub struct State(AtomicU8);

const FREE: u8 = 0;
const LIVE: u8 = 1;
const LOST: u8 = 2;

impl State {
    pub const fn new() -> State {
        State(AtomicU8::new(FREE))
    }
}

/// Owner numbers below are not threads'.
const FIRST_NUMBER: u32 = 2;
const LAST_NUMBER: u32 = super::NOBODY - 1;
/// Fronts are mapped this many bytes at a time.
const CHUNK: usize = 64 * 1024;

struct Fronts {
    free: *mut Front,
    bump: *mut u8,
    left: usize,
    next_number: u32,
    /// Fronts that are not free.
    taken: u32,
}

struct Shelf(UnsafeCell<Fronts>);

// SAFETY: INV-FRONTS: the content is reached only with the heap registry locked.
unsafe impl Sync for Shelf {}

static SHELF: Shelf = Shelf(UnsafeCell::new(Fronts {
    free: null_mut(),
    bump: null_mut(),
    left: 0,
    next_number: FIRST_NUMBER,
    taken: 0,
}));

/// There are lost fronts.
static LOST_ONES: AtomicBool = AtomicBool::new(false);
static MAPPED: AtomicU32 = AtomicU32::new(0);

/// A front for a thread; null when memory, or numbers, are exhausted.
pub(super) fn take() -> Option<*mut Front> {
    heap::with_registry_locked(|| {
        // SAFETY: INV-FRONTS: the registry is locked.
        let fronts = unsafe { &mut *SHELF.0.get() };
        let front = match fronts.free.is_null() {
            true => fronts.make()?,
            false => fronts.free,
        };
        // SAFETY: INV-FRONT: a free front is nobody's.
        unsafe {
            if front == fronts.free {
                fronts.free = (*front).next_free;
                Front::reset(front);
            }
            (*front).state.0.store(LIVE, Relaxed);
        }
        fronts.taken += 1;
        Some(front)
    })
}

/// Takes back a front whose heap owns nothing. Returns how many threads still have one.
///
/// # Safety
/// No thread uses the front from now on.
pub(super) unsafe fn put(front: *mut Front) -> u32 {
    // SAFETY: INV-FRONTS: the registry is locked.
    heap::with_registry_locked(|| unsafe {
        let fronts = &mut *SHELF.0.get();
        fronts.put(front);
        fronts.taken
    })
}

impl Fronts {
    fn make(&mut self) -> Option<*mut Front> {
        if self.left < size_of::<Front>() {
            self.bump = os::map(CHUNK)?.as_ptr();
            self.left = CHUNK;
            MAPPED.fetch_add(CHUNK as u32, Relaxed);
        }
        if self.next_number > LAST_NUMBER {
            return None;
        }
        let front: *mut Front = self.bump.cast();
        self.bump = self.bump.wrapping_add(size_of::<Front>());
        self.left -= size_of::<Front>();
        // SAFETY: INV-FRONT: the memory is fresh and zero; the heap is complete when it is published.
        unsafe {
            Front::init(front, self.next_number);
            heap::publish(&raw mut (*front).heap);
        }
        self.next_number += 1;
        Some(front)
    }

    /// # Safety
    /// As for [`put`].
    unsafe fn put(&mut self, front: *mut Front) {
        // SAFETY: INV-FRONT: as the caller promises.
        unsafe {
            (*front).next_free = self.free;
            (*front).state.0.store(FREE, Relaxed);
        }
        self.free = front;
        self.taken -= 1;
    }
}

fn front_of(heap: &'static Heap) -> Option<*mut Front> {
    if ptr::eq(heap, &ORPHANS) {
        return None;
    }
    let at = (&raw const *heap).cast_mut().cast::<u8>();
    Some(at.wrapping_sub(offset_of!(Front, heap)).cast())
}

/// Visits every front that was ever made.
fn each(mut f: impl FnMut(*mut Front)) {
    heap::each(|heap| {
        if let Some(front) = front_of(heap) {
            f(front);
        }
    });
}

/// In a forked child, before any lock is released: the fronts of all other threads are lost.
pub fn after_fork_in_child() {
    let mine = current();
    each(|front| {
        // SAFETY: INV-FRONT: states are atomic and fronts never unmapped.
        let state = unsafe { &(*front).state.0 };
        if front != mine && state.load(Relaxed) == LIVE {
            state.store(LOST, Relaxed);
            LOST_ONES.store(true, Relaxed);
        }
    });
}

/// Hands the slabs of lost fronts to the orphans. What their threads had cached stays lost: another thread may have
/// been in the middle of changing it when the process forked. To be called inside a cold path, without a lock. Returns
/// a fault found on the way.
#[inline]
pub(super) fn reap() -> Option<Fault> {
    match LOST_ONES.load(Relaxed) {
        true => reap_lost(),
        false => None,
    }
}

#[cold]
fn reap_lost() -> Option<Fault> {
    let mut fault = None;
    heap::with_registry_locked(|| {
        if !LOST_ONES.swap(false, Relaxed) {
            return;
        }
        each(|front| {
            // SAFETY: INV-FRONT: a lost front has no thread; INV-FRONTS: the registry is locked.
            unsafe {
                if (*front).state.0.load(Relaxed) != LOST {
                    return;
                }
                let mut heap = (*front).heap.lock();
                heap.drain();
                let mut orphans = ORPHANS.lock();
                heap.hand_over(&mut orphans);
                fault = fault.or(heap::finish_orphans(orphans)).or(heap.unlock());
                (*SHELF.0.get()).put(front);
            }
        });
    });
    fault
}

/// Blocks of each class in the caches of live threads. Other threads' counts are read while they change, so the sum is
/// exact only when they are at rest.
pub fn cached_blocks() -> [usize; NUM_CLASSES] {
    let mut cached = [0usize; NUM_CLASSES];
    each(|front| {
        // SAFETY: INV-FRONT: fronts are never unmapped; counts are read volatile because their thread may change them.
        unsafe {
            if (*front).state.0.load(Relaxed) != LIVE {
                return;
            }
            for (class, sum) in cached.iter_mut().enumerate() {
                let capacity = (&raw const (*front).rooms[class])
                    .read_volatile()
                    .capacity();
                let room = (&raw const (*front).bins[class].room).read_volatile();
                *sum += capacity.saturating_sub(room).max(0) as usize;
            }
            let spilled = (&raw const (*front).spilled).read_volatile() as usize;
            for i in 0..spilled.min(super::SPILL) {
                let (block, _) = (&raw const (*front).spill[i]).read_volatile();
                let tag = crate::segment::page_map::tag_at(block);
                if crate::slab::owner_of_tag(tag) != 0 {
                    cached[crate::slab::class_of_tag(tag)] += 1;
                }
            }
        }
    });
    cached
}

/// Cold-path entries by [`Entry`], of all threads so far.
pub fn cold_counts() -> [u64; Entry::COUNT] {
    let mut sums = [0; Entry::COUNT];
    each(|front| {
        for (entry, sum) in sums.iter_mut().enumerate() {
            // SAFETY: INV-FRONT: fronts are never unmapped; counts are read volatile because their thread may change
            // them.
            *sum += unsafe { (&raw const (*front).entries[entry]).read_volatile() };
        }
    });
    sums
}

/// Bytes mapped for fronts.
pub fn mapped() -> usize {
    MAPPED.load(Relaxed) as usize
}
