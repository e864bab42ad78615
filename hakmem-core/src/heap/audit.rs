//! A locked heap looked at from outside: statistics, and checks of everything that its lock guards.

use super::LockedHeap;
use super::lists::SlabList;
use crate::base::size_class::{CLASSES, NUM_CLASSES};
use crate::slab::Slab;
#[cfg(debug_assertions)]
use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// In debug builds, one in so many releases of a heap's lock checks the heap first.
#[cfg(debug_assertions)]
const CHECK_EVERY: u32 = 512;

impl LockedHeap<'_> {
    #[cfg(debug_assertions)]
    pub(super) fn check_now_and_then(&self) {
        static RELEASES: AtomicU32 = AtomicU32::new(0);
        if RELEASES.fetch_add(1, Relaxed).is_multiple_of(CHECK_EVERY) {
            assert_eq!(self.check(), Ok(()));
        }
    }

    /// Calls `each` with every slab.
    pub fn each_slab(&self, mut each: impl FnMut(&Slab)) {
        for class in &self.slabs().classes {
            for list in [&class.available, &class.full] {
                let mut next = list.first();
                while let Some(slab) = next {
                    each(slab);
                    // SAFETY: INV-HEAP: the lock is held.
                    next = unsafe { SlabList::after(slab) };
                }
            }
        }
    }

    /// Blocks moved out of slabs and back, by class, since the heap began.
    pub fn traffic(&self, class: usize) -> (u64, u64) {
        let list = &self.slabs().classes[class];
        (list.issued, list.returned)
    }

    /// Checks every slab, and the lists against the slabs; the message names the first fault.
    pub fn check(&self) -> Result<(), &'static str> {
        let mut result = Ok(());
        let mut granules = 0;
        let mut out = [0u64; NUM_CLASSES];
        self.each_slab(|slab| {
            granules += slab.class().granules as u32;
            // SAFETY: INV-OWNER: the slab is on this heap's list, and its lock is held.
            unsafe {
                out[slab.class_number()] += (slab.class().blocks as u32 - slab.free_count()) as u64;
                result = result.and(slab.check(&self.heap.owner));
            }
        });
        for (class, list) in self.slabs().classes.iter().enumerate() {
            // SAFETY: INV-OWNER: as above.
            let placed = unsafe {
                list.available
                    .first()
                    .is_none_or(|slab| slab.free_count() > 0)
                    && list.full.first().is_none_or(|slab| slab.free_count() == 0)
            };
            if !placed {
                result = result.and(Err("slab on the wrong list"));
            }
            if list.issued - list.returned != out[class] {
                result = result.and(Err("blocks issued and returned"));
            }
        }
        if granules != self.slabs().granules {
            result = result.and(Err("granules of the heap"));
        }
        result
    }

    /// Frees in slabs, in bytes, and slabs, for statistics.
    pub fn free_bytes(&self) -> (usize, usize) {
        let (mut bytes, mut count) = (0, 0);
        self.each_slab(|slab| {
            count += 1;
            // SAFETY: INV-OWNER: the slab is on this heap's list, and its lock is held.
            bytes +=
                unsafe { slab.free_count() } as usize * CLASSES[slab.class_number()].size as usize;
        });
        (bytes, count)
    }
}
