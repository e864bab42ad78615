//! What callers see: sizes checked, errno set, the semantics of each entry point.
//!
//! Knows everything below. `hakmem-preload` puts the C names on these.

mod aligned;
mod resize;

pub use aligned::{aligned_noerrno, free_aligned_sized};
pub use resize::{owns, realloc, usable_size};

use crate::base::size_class::{CLASS_MAX, CLASSES, TABLE_MAX, class_of};
use crate::control::misuse;
use crate::front::{self, Entry};
use crate::heap;
pub use crate::os::set_errno;
use crate::segment::{self, page_map};
use crate::slab;
use core::ptr::null_mut;

/// The largest request that the front's table answers, in bytes.
pub const TINY_MAX: usize = TABLE_MAX;
/// Larger requests fail: pointers into such a block could not be subtracted.
pub const MAX_REQUEST: usize = isize::MAX as usize;
pub const ENOMEM: i32 = libc::ENOMEM;
pub const EINVAL: i32 = libc::EINVAL;

/// Calls below this size are cleared with a plain memset; above it, memory known to be zero is left alone.
const CALLOC_LOOKS: usize = 4096;

/// Passes a block on, setting ENOMEM if there is none.
#[inline(always)]
fn or_enomem(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        set_errno(ENOMEM);
    }
    block
}

/// At least `size` bytes, aligned to 16. A size of 0 gets a block of its own. Null and ENOMEM when `size` exceeds
/// [`MAX_REQUEST`] or memory is exhausted.
#[inline(always)]
pub fn malloc(size: usize) -> *mut u8 {
    front::alloc::<true>(size)
}

/// As [`malloc`], but leaves errno alone.
#[inline(always)]
pub fn malloc_noerrno(size: usize) -> *mut u8 {
    front::alloc::<false>(size)
}

/// A block from the thread's cache; else what `further` does, to which this is a jump if the caller does nothing after.
#[inline(always)]
pub fn malloc_or(size: usize, further: impl FnOnce(usize) -> *mut u8) -> *mut u8 {
    front::alloc_or(size, further)
}

/// Frees a block from any of the functions here; null is allowed. Keeps errno. Safe from any thread.
///
/// # Safety
/// The block is the caller's to give up. A pointer that is none is reported, as far as that shows at no cost.
#[inline(always)]
pub unsafe fn free(block: *mut u8) {
    // SAFETY: as the caller promises.
    unsafe { front::free(block) }
}

/// `count * size` zero bytes. Null and ENOMEM on overflow or exhaustion.
#[inline(always)]
pub fn calloc(count: usize, size: usize) -> *mut u8 {
    let Some(bytes) = count.checked_mul(size) else {
        return or_enomem(null_mut());
    };
    if bytes >= CALLOC_LOOKS {
        return calloc_large(bytes);
    }
    let block = front::alloc::<true>(bytes);
    if !block.is_null() {
        // SAFETY: INV-BLOCK: the block is new and at least this long.
        unsafe { block.write_bytes(0, bytes) };
    }
    block
}

#[inline(never)]
fn calloc_large(bytes: usize) -> *mut u8 {
    or_enomem(match bytes <= CLASS_MAX {
        true => front::alloc_zeroed_class(class_of(bytes)),
        false => front::alloc_huge(bytes, 1, true, Entry::Calloc),
    })
}

/// Frees a block of which the caller knows what size it asked for.
///
/// # Safety
/// As for [`free`]; `size` is the size of the request that got the block.
#[inline(always)]
pub unsafe fn free_sized(block: *mut u8, size: usize) {
    if cfg!(debug_assertions) {
        check_size(block, size);
    }
    // SAFETY: as the caller promises.
    unsafe { free(block) }
}

/// Reports a size that no request for `block` can have had.
fn check_size(block: *mut u8, size: usize) {
    let tag = page_map::tag_at(block);
    if slab::owner_of_tag(tag) != 0 {
        let actual = CLASSES[slab::class_of_tag(tag)].size as usize;
        if size > actual {
            misuse::report_size(block, size, actual);
        }
    }
}

/// A block of at most [`TINY_MAX`] bytes straight from its slab, past the thread's cache; null for larger sizes, or
/// when memory is exhausted.
pub fn take_from_slab(size: usize) -> *mut u8 {
    front::take_from_slab(size)
}

/// Lets free memory of up to `bytes` stay resident for each group of threads that shares a pool (M_TRIM_THRESHOLD), beside
/// an eighth of what is in use. 128 KiB at first.
pub fn set_trim_threshold(bytes: usize) {
    segment::set_retained_floor(bytes);
}

/// Gives free memory back to the system: the calling thread's cache, what other threads freed of idle threads' blocks,
/// all free spans and huge blocks. `pad` is accepted for the sake of malloc_trim and ignored. True when memory went back.
pub fn trim(pad: usize) -> bool {
    let _ = pad;
    let mut fault = front::trim_thread();
    let mut purged = 0;
    if let Some(entered) = front::enter(Entry::Free) {
        heap::each(|heap| {
            if let Some(mut locked) = heap.try_lock() {
                locked.drain();
                debug_assert_eq!(locked.check(), Ok(()));
                fault = fault.or(locked.unlock());
            }
        });
        purged = segment::purge_all();
        drop(entered);
    }
    if let Some(fault) = fault {
        misuse::report_fault(fault);
    }
    purged > 0
}
