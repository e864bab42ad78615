//! A SuperSlab: 2 MiB of address space, aligned to 2 MiB, cut into 32 granules that slabs take and give back.
//!
//! | granule is | `free` | `dirty` |
//! |---|---|---|
//! | part of a slab, or being purged | 0 | 0 |
//! | free and reads as zero (fresh or purged) | 1 | 0 |
//! | free and resident with old content | 1 | 1 |
//!
//! Guarded by the lock of the shard that mapped it.

use crate::base::align::{find_run, ones64};
use crate::base::size_class::GRANULE;

pub const GRANULES: u32 = 32;
pub const SUPER_SLAB: usize = GRANULES as usize * GRANULE;

/// A link of one of the two lists a SuperSlab is on.
pub struct Link {
    pub next: *mut SuperSlab,
    pub prev: *mut SuperSlab,
}

#[repr(C)]
pub struct SuperSlab {
    pub base: *mut u8,
    pub free: u32,
    pub dirty: u32,
    /// The list of SuperSlabs with the same number of free granules.
    pub by_free: Link,
    /// The list of SuperSlabs with dirty granules, the latest last.
    pub by_dirt: Link,
    /// Index of the shard.
    pub shard: u32,
}

/// A run of granules inside a SuperSlab, as a mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    pub mask: u32,
}

impl Run {
    pub fn new(first: u32, len: u32) -> Run {
        Run {
            mask: (ones64(len) << first) as u32,
        }
    }

    pub fn first(self) -> u32 {
        self.mask.trailing_zeros()
    }

    pub fn granules(self) -> u32 {
        self.mask.count_ones()
    }

    pub fn offset(self) -> usize {
        self.first() as usize * GRANULE
    }

    pub fn bytes(self) -> usize {
        self.granules() as usize * GRANULE
    }
}

impl SuperSlab {
    /// A free run of `len` granules; only dirty ones when `dirty` is set.
    pub fn find(&self, len: u32, dirty: bool) -> Option<Run> {
        let mask = if dirty {
            self.free & self.dirty
        } else {
            self.free
        };
        find_run(mask, len).map(|first| Run::new(first, len))
    }

    /// The longest stretch of dirty granules from the first one on.
    pub fn first_dirty_run(&self) -> Option<Run> {
        if self.dirty == 0 {
            return None;
        }
        let first = self.dirty.trailing_zeros();
        let len = (!(self.dirty >> first))
            .trailing_zeros()
            .min(GRANULES - first);
        Some(Run::new(first, len))
    }

    pub fn is_empty(&self) -> bool {
        self.free == u32::MAX
    }

    pub fn address_of(&self, run: Run) -> *mut u8 {
        self.base.wrapping_add(run.offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr::null_mut;

    fn super_slab(free: u32, dirty: u32) -> SuperSlab {
        let link = || Link {
            next: null_mut(),
            prev: null_mut(),
        };
        SuperSlab {
            base: null_mut(),
            free,
            dirty,
            by_free: link(),
            by_dirt: link(),
            shard: 0,
        }
    }

    #[test]
    fn runs() {
        assert_eq!(Run::new(0, 32).mask, u32::MAX);
        let run = Run::new(4, 3);
        assert_eq!((run.mask, run.first(), run.granules()), (0b111_0000, 4, 3));
        assert_eq!((run.offset(), run.bytes()), (4 * GRANULE, 3 * GRANULE));
    }

    #[test]
    fn finds_free_and_dirty_runs() {
        let s = super_slab(0b1111_0110, 0b1100_0000);
        assert_eq!(s.find(1, false), Some(Run::new(1, 1)));
        assert_eq!(s.find(3, false), Some(Run::new(4, 3)));
        assert_eq!(s.find(2, true), Some(Run::new(6, 2)));
        assert_eq!(s.find(3, true), None);
        assert_eq!(s.first_dirty_run(), Some(Run::new(6, 2)));
        assert_eq!(
            super_slab(u32::MAX, u32::MAX).first_dirty_run(),
            Some(Run::new(0, 32))
        );
        assert_eq!(super_slab(u32::MAX, 0).first_dirty_run(), None);
        assert_eq!(
            super_slab(u32::MAX, 1 << 31).first_dirty_run(),
            Some(Run::new(31, 1))
        );
    }
}
