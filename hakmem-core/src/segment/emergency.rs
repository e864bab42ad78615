//! Blocks for code that interrupted the allocator.
//!
//! A signal handler that allocates while its thread is inside a cold path must not wait for a lock of that thread. It
//! gets a mapping of its own: the page map is lock-free, the mapping carries its own header, so no lock is involved.

use super::page_map::{self, Kind};
use crate::base::align::round_up;
use crate::base::size_class::GRANULE;
use crate::os;
use core::ptr::null_mut;

#[repr(C)]
struct Header {
    map: *mut u8,
    map_len: usize,
    block: *mut u8,
    block_len: usize,
}

/// A zeroed block of at least `size` bytes at a multiple of `align` (a power of two); null when memory is exhausted.
pub fn alloc(size: usize, align: usize) -> *mut u8 {
    // The block starts one granule (or one alignment) into the mapping: behind the header, and alone in its granule.
    let offset = align.max(GRANULE);
    let Some(len) = round_up(size.max(1), GRANULE).and_then(|len| len.checked_add(offset)) else {
        return null_mut();
    };
    let Some(map) = os::map_aligned(len, offset) else {
        return null_mut();
    };
    let map = map.as_ptr();
    let block = map.wrapping_add(offset);
    if !page_map::cover(map, len) {
        // SAFETY: INV-OS-OWN: mapped just above and not in use.
        unsafe { os::unmap(map, len) };
        return null_mut();
    }
    let header: *mut Header = map.cast();
    // SAFETY: INV-OS-OWN: the first page of the new mapping is ours.
    unsafe {
        header.write(Header {
            map,
            map_len: len,
            block,
            block_len: len - offset,
        })
    };
    page_map::set(block, 1, Kind::Emergency as u32, header);
    block
}

/// Usable bytes of the emergency block at `at`.
///
/// # Safety
/// `at` is such a block, held by the caller.
pub unsafe fn usable_size(at: *const u8) -> usize {
    let header: *mut Header = page_map::record_at(at);
    // SAFETY: INV-RECORD: the block's granule leads to its header, which lives as long as the block.
    unsafe { (*header).block_len }
}

/// Frees the block at `at`; false when no emergency block starts there.
pub fn free(at: *mut u8) -> bool {
    if !at.addr().is_multiple_of(GRANULE) {
        return false;
    }
    let header: *mut Header = page_map::record_at(at);
    if !page_map::claim(at, Kind::Emergency as u32, Kind::None as u32) {
        return false;
    }
    // SAFETY: INV-RECORD: the claim makes the block and its header ours alone.
    unsafe {
        let Header { map, map_len, .. } = core::ptr::read(header);
        os::unmap(map, map_len);
    }
    true
}
