//! Blocks aligned to more than 16 bytes.

use super::free;
use crate::base::size_class::class_of_aligned;
use crate::front::{self, Entry};

/// At least `size` bytes at a multiple of `align`, any power of two; null when memory is exhausted or `size` plus
/// alignment exceed what can be. Leaves errno alone.
#[inline]
pub fn aligned_noerrno(align: usize, size: usize) -> *mut u8 {
    if align <= 16 {
        return front::alloc::<false>(size);
    }
    match class_of_aligned(size, align) {
        Some(class) => front::alloc_class(class, Entry::Aligned),
        None => front::alloc_huge(size, align, false, Entry::Aligned),
    }
}

/// Frees a block of which the caller knows what alignment and size it asked for; null is allowed. Keeps errno.
///
/// # Safety
/// As for [`free`]; the two are those of the request.
#[inline]
pub unsafe fn free_aligned_sized(block: *mut u8, align: usize, size: usize) {
    let _ = (align, size);
    // SAFETY: as the caller promises.
    unsafe { free(block) }
}
