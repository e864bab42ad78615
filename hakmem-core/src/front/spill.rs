//! Frees that find their bin full.

use super::enter::{Entry, enter};
use super::free::{Freed, free_remote, result_of};
use super::{Front, SPILL, current};
use crate::base::size_class::{CLASSES, NUM_CLASSES};
use crate::heap::LockedHeap;
use core::ptr::null_mut;

/// Blocks from this size on do not wait in the spill: they are worth giving back at once.
const AT_ONCE: u32 = 32 * 1024;

/// Frees a block of this thread's whose bin turned out to be full, after the hot path counted its room below zero.
///
/// # Safety
/// The block is of `class` and owned by the calling thread's heap.
#[inline]
pub(super) unsafe fn free_full(block: *mut u8, class: usize) -> Freed {
    let front = current();
    // SAFETY: INV-FRONT: only a thread with a front of its own has blocks with its tag.
    unsafe { (*front).bins[class].room += 1 };
    let Some(entered) = enter(Entry::Free) else {
        // A signal handler inside one of our cold paths: the way that needs no lock is open to everybody.
        return free_remote(block);
    };
    // SAFETY: INV-FRONT: as above.
    unsafe {
        let spilled = (*front).spilled as usize;
        (*front).spill[spilled] = (block, class as u8);
        (*front).spilled += 1;
        let shrink = (*front).rooms[class].on_spill();
        let full = spilled + 1 == SPILL || CLASSES[class].size >= AT_ONCE;
        if !full && !shrink {
            return Ok(());
        }
        let mut heap = (*front).heap.lock();
        flush(front, &mut heap);
        if shrink {
            empty_bin(front, class, &mut heap);
            let change = (*front).rooms[class].shrink(&CLASSES[class]);
            (*front).bins[class].room += change;
        }
        let fault = heap.unlock();
        drop(entered);
        result_of(fault)
    }
}

/// Gives the spill to the slabs, after what other threads freed: were a slab released with such a free still pending, a
/// block that both freed would go unnoticed.
///
/// # Safety
/// `front` is the calling thread's, inside a cold path, or no thread's; `heap` is its heap.
pub(super) unsafe fn flush(front: *mut Front, heap: &mut LockedHeap<'_>) {
    // SAFETY: INV-FRONT: as the caller promises.
    unsafe {
        heap.drain();
        for i in 0..(*front).spilled as usize {
            let (block, class) = (*front).spill[i];
            heap.give(block, class as usize);
        }
        (*front).spilled = 0;
    }
}

/// Gives the blocks of a bin to the slabs.
///
/// # Safety
/// As for [`flush`].
unsafe fn empty_bin(front: *mut Front, class: usize, heap: &mut LockedHeap<'_>) {
    // SAFETY: INV-FRONT: as the caller promises; the bin's list is detached before it is walked.
    unsafe {
        let bin = &raw mut (*front).bins[class];
        let capacity = (*front).rooms[class].capacity();
        let mut block = (*bin).head;
        (*bin).head = null_mut();
        // Counted, because a block that was freed twice makes the list a circle.
        for _ in (*bin).room..capacity {
            if block.is_null() {
                break;
            }
            let next = *block.cast::<*mut u8>();
            heap.give(block, class);
            block = next;
        }
        (*bin).room = capacity;
    }
}

/// Gives everything cached to the slabs.
///
/// # Safety
/// As for [`flush`].
pub(super) unsafe fn empty(front: *mut Front, heap: &mut LockedHeap<'_>) {
    // SAFETY: INV-FRONT: as the caller promises.
    unsafe {
        flush(front, heap);
        for class in 0..NUM_CLASSES {
            empty_bin(front, class, heap);
        }
    }
}
