//! The cold door of malloc: refills, single blocks, blocks with a mapping of their own.

use super::attach;
use super::enter::{Entered, Entry, enter};
use super::{Front, spill};
use crate::base::size_class::{CLASSES, TABLE_MAX, class_of};
use crate::control::misuse;
use crate::heap::{self, Fault, ORPHANS};
use crate::segment::{self, emergency, huge};
use core::ptr::null_mut;

/// Refills the bin of `class` and takes a block; null when memory is exhausted.
#[cold]
#[inline(never)]
pub fn refill(class: usize, entry: Entry) -> *mut u8 {
    with_front(class, entry, |front| {
        // SAFETY: INV-FRONT: the front is the calling thread's, inside a cold path.
        let (block, fault) = unsafe { refill_front(front, class) };
        (block, false, fault)
    })
    .0
}

/// Takes a single block past the bin, without touching its memory if that can be avoided. The flag says that it reads
/// as zero.
#[cold]
#[inline(never)]
pub fn take_one(class: usize, entry: Entry) -> (*mut u8, bool) {
    with_front(class, entry, |front| {
        // SAFETY: INV-FRONT: the front is the calling thread's, inside a cold path.
        let mut heap = unsafe {
            (*front).bins[class].room += (*front).rooms[class].on_miss(&CLASSES[class]);
            let mut heap = (*front).heap.lock();
            spill::flush(front, &mut heap);
            heap
        };
        let (block, zero) = heap.take_one(class).unwrap_or((null_mut(), false));
        (block, zero, heap.unlock())
    })
}

/// A block of at most 1,024 bytes straight from its slab, past the thread's cache; null for larger sizes or when memory
/// is exhausted.
pub fn take_from_slab(size: usize) -> *mut u8 {
    if size > TABLE_MAX {
        return null_mut();
    }
    take_one(class_of(size), Entry::Malloc).0
}

/// Runs `take` with the calling thread's front, once more after giving back all free memory if it finds none. Threads
/// without a front get one, or a block from the heap of orphans when they are past their end.
#[inline]
fn with_front(
    class: usize,
    entry: Entry,
    mut take: impl FnMut(*mut Front) -> (*mut u8, bool, Option<Fault>),
) -> (*mut u8, bool) {
    let Some(mut entered) = enter(entry) else {
        return (emergency::alloc(CLASSES[class].size as usize, 1), true);
    };
    if entered.is_new() {
        match attach::attach(entered, entry) {
            Some(again) => entered = again,
            None => return (emergency::alloc(CLASSES[class].size as usize, 1), true),
        }
    }
    let found = super::registry::reap();
    let mut attempt = || match entered.front() {
        Some(front) => take(front),
        None => take_orphan(class),
    };
    let (mut block, mut zero, mut fault) = attempt();
    if block.is_null() {
        segment::purge_all();
        let again = attempt();
        (block, zero, fault) = (again.0, again.1, fault.or(again.2));
    }
    drop(entered);
    if let Some(fault) = fault.or(found) {
        misuse::report_fault(fault);
    }
    (block, zero)
}

fn take_orphan(class: usize) -> (*mut u8, bool, Option<Fault>) {
    let mut orphans = ORPHANS.lock();
    orphans.drain();
    let (block, zero) = orphans.take_one(class).unwrap_or((null_mut(), false));
    (block, zero, heap::finish_orphans(orphans))
}

/// # Safety
/// `front` is the calling thread's, inside a cold path.
unsafe fn refill_front(front: *mut Front, class: usize) -> (*mut u8, Option<Fault>) {
    let what = &CLASSES[class];
    // SAFETY: INV-FRONT: as the caller promises.
    unsafe {
        let bin = &raw mut (*front).bins[class];
        (*bin).room += (*front).rooms[class].on_miss(what);
        let mut heap = (*front).heap.lock();
        spill::flush(front, &mut heap);
        let batch = (*front).rooms[class].batch(what);
        let taken = heap.take(class, batch, (*bin).head);
        let fault = heap.unlock();
        let block = taken.first;
        if !block.is_null() {
            (*bin).head = *block.cast::<*mut u8>();
            (*bin).room -= taken.count as i32 - 1;
        }
        (block, fault)
    }
}

/// A block with a mapping of its own.
#[cold]
#[inline(never)]
pub fn alloc_huge(size: usize, align: usize, zero: bool, entry: Entry) -> *mut u8 {
    if size > isize::MAX as usize {
        return null_mut();
    }
    let Some(entered) = enter(entry) else {
        return emergency::alloc(size, align);
    };
    let number = Entered::number(&entered);
    let block = huge::alloc(size, align, zero, number).or_else(|| {
        segment::purge_all();
        huge::alloc(size, align, zero, number)
    });
    drop(entered);
    block.map_or(null_mut(), |block| block.base)
}
