//! The hot path of malloc, and the way to larger classes.

use super::cold;
use super::enter::Entry;
use super::{bin_at, current};
use crate::base::size_class::{CLASS_MAX, CLASSES, TABLE_MAX, class_of};
use crate::os;
use core::ptr;

/// A block of at least `size` bytes, aligned to 16; null when memory is exhausted, and ENOMEM if `ERRNO` is set.
#[inline(always)]
pub fn alloc<const ERRNO: bool>(size: usize) -> *mut u8 {
    alloc_or(size, alloc_further::<ERRNO>)
}

/// What the table answers; else what `further` does.
#[inline(always)]
pub fn alloc_or(size: usize, further: impl FnOnce(usize) -> *mut u8) -> *mut u8 {
    let front = current();
    if size <= TABLE_MAX {
        // SAFETY: INV-FRONT: the slot holds a valid front; its table has an entry for each size up to TABLE_MAX, and
        // the head of a bin is a free block that only this thread can take.
        unsafe {
            let twice_class = *(*front).table.get_unchecked((size + 15) >> 4);
            let bin = bin_at(front, twice_class as usize);
            let block = (*bin).head;
            if !block.is_null() {
                (*bin).head = *block.cast::<*mut u8>();
                (*bin).room += 1;
                return block;
            }
        }
    }
    further(size)
}

/// What the table does not answer: bins of larger classes, refills, blocks with a mapping of their own.
#[inline(never)]
fn alloc_further<const ERRNO: bool>(size: usize) -> *mut u8 {
    let block = match size <= CLASS_MAX {
        true => alloc_class(class_of(size), Entry::Malloc),
        false => cold::alloc_huge(size, 1, false, Entry::Malloc),
    };
    if ERRNO && block.is_null() {
        os::set_errno(libc::ENOMEM);
    }
    block
}

/// A block of `class`; null when memory is exhausted.
#[inline]
pub fn alloc_class(class: usize, entry: Entry) -> *mut u8 {
    match pop(class) {
        Some(block) => block,
        None => cold::refill(class, entry),
    }
}

#[inline]
fn pop(class: usize) -> Option<*mut u8> {
    // SAFETY: INV-FRONT: as in `alloc`; the static fronts have empty bins.
    unsafe {
        let bin = bin_at(current(), 2 * class);
        let block = (*bin).head;
        if block.is_null() {
            return None;
        }
        (*bin).head = *block.cast::<*mut u8>();
        (*bin).room += 1;
        Some(block)
    }
}

/// A block of `class` whose whole length is zero. Memory known to be zero is not written.
pub fn alloc_zeroed_class(class: usize) -> *mut u8 {
    let (block, zero) = match pop(class) {
        Some(block) => (block, false),
        None => cold::take_one(class, Entry::Calloc),
    };
    if !block.is_null() && !zero {
        // SAFETY: INV-BLOCK: the block is the caller's and as long as its class says.
        unsafe { ptr::write_bytes(block, 0, CLASSES[class].size as usize) };
    }
    block
}
