//! Memory for the allocator's own records, apart from the program's blocks.
//!
//! A bump area and one free list per size, used under the owning shard's lock. Memory is never unmapped and a slab
//! record is only ever reused as a slab record, so that a thread which looks at a record a little too late reads a
//! valid one (INV-RECORD).

use crate::os;
use core::ptr::null_mut;

/// Sizes in bytes: slab bitmaps use all of them, segment and huge records the one that fits.
const SIZES: [usize; 5] = [64, 128, 256, 512, 1024];
const CHUNK: usize = 64 * 1024;

struct Free {
    next: *mut Free,
}

pub struct Meta {
    bump: *mut u8,
    left: usize,
    free: [*mut Free; SIZES.len()],
    free_slabs: *mut Free,
    mapped: usize,
}

fn size_index(bytes: usize) -> usize {
    let index = SIZES.iter().position(|&size| bytes <= size);
    debug_assert!(index.is_some());
    index.unwrap_or(SIZES.len() - 1)
}

fn pop(list: &mut *mut Free) -> *mut u8 {
    let first = *list;
    if !first.is_null() {
        // SAFETY: INV-META: a listed record is ours, unused, and begins with its link.
        *list = unsafe { (*first).next };
    }
    first.cast()
}

/// # Safety
/// `record` came from the allocation function of the same list and is no longer used.
unsafe fn push(list: &mut *mut Free, record: *mut u8) {
    let record: *mut Free = record.cast();
    // SAFETY: INV-META: the record is ours and at least as large as a link.
    unsafe { (*record).next = *list };
    *list = record;
}

#[expect(clippy::new_without_default, reason = "only ever made in statics")]
impl Meta {
    pub const fn new() -> Meta {
        Meta {
            bump: null_mut(),
            left: 0,
            free: [null_mut(); SIZES.len()],
            free_slabs: null_mut(),
            mapped: 0,
        }
    }

    /// At least `bytes` (up to 1024) aligned to 64; null when the system has no memory. The content is undefined.
    pub fn alloc(&mut self, bytes: usize) -> *mut u8 {
        let index = size_index(bytes);
        let reused = pop(&mut self.free[index]);
        if reused.is_null() {
            self.bump(SIZES[index])
        } else {
            reused
        }
    }

    /// # Safety
    /// `record` came from [`Meta::alloc`] with the same `bytes` and is no longer used.
    pub unsafe fn free(&mut self, record: *mut u8, bytes: usize) {
        // SAFETY: INV-META: as the caller promises.
        unsafe { push(&mut self.free[size_index(bytes)], record) }
    }

    /// A slab record of [`SLAB_RECORD`] bytes: fresh (zero) or one that was a slab before.
    pub fn alloc_slab(&mut self) -> *mut u8 {
        let reused = pop(&mut self.free_slabs);
        if reused.is_null() {
            self.bump(SLAB_RECORD)
        } else {
            reused
        }
    }

    /// # Safety
    /// `record` came from [`Meta::alloc_slab`] and no heap owns the slab any more. Its first word is overwritten.
    pub unsafe fn free_slab(&mut self, record: *mut u8) {
        // SAFETY: INV-META: as the caller promises.
        unsafe { push(&mut self.free_slabs, record) }
    }

    /// Visits every free slab record.
    pub fn each_free_slab(&self, mut f: impl FnMut(*mut u8)) {
        let mut next = self.free_slabs;
        while !next.is_null() {
            f(next.cast());
            // SAFETY: INV-META: a listed record is ours and begins with its link.
            next = unsafe { (*next).next };
        }
    }

    /// Bytes mapped for records.
    pub fn mapped(&self) -> usize {
        self.mapped
    }

    fn bump(&mut self, size: usize) -> *mut u8 {
        if self.left < size {
            let Some(chunk) = os::map(CHUNK) else {
                return null_mut();
            };
            self.bump = chunk.as_ptr();
            self.left = CHUNK;
            self.mapped += CHUNK;
        }
        let record = self.bump;
        // SAFETY: INV-META: `left` bytes follow `bump` in the chunk.
        self.bump = unsafe { record.add(size) };
        self.left -= size;
        record
    }
}

/// Bytes of a slab record.
pub const SLAB_RECORD: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_aligned_distinct_and_reused() {
        let mut meta = Meta::new();
        let mut seen = std::collections::HashSet::new();
        for round in 0..500 {
            let bytes = 1 + round * 37 % 1024;
            let record = meta.alloc(bytes);
            assert_eq!(record.addr() % 64, 0);
            assert!(seen.insert(record.addr()));
        }
        let slab = meta.alloc_slab();
        // SAFETY: both were just allocated and are not used.
        unsafe { meta.free_slab(slab) };
        let record = meta.alloc(SLAB_RECORD);
        assert_ne!(record, slab, "a slab record stays a slab record");
        assert_eq!(meta.alloc_slab(), slab);
        // SAFETY: as above.
        unsafe { meta.free(record, SLAB_RECORD) };
        assert_eq!(meta.alloc(SLAB_RECORD - 1), record);
    }
}
