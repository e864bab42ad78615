//! The slabs of one class in a heap: those with free blocks, and those without.

use crate::slab::{Links, Slab};
use core::ptr::null_mut;

pub struct ClassSlabs {
    /// Slabs with a free block; one that just got its first free block is in front, so refills prefer full slabs.
    pub available: SlabList,
    pub full: SlabList,
    /// Blocks moved out of slabs, and back into them, since the heap began.
    pub issued: u64,
    pub returned: u64,
}

pub struct SlabList {
    first: *mut Slab,
}

impl ClassSlabs {
    pub const fn new() -> Self {
        ClassSlabs {
            available: SlabList { first: null_mut() },
            full: SlabList { first: null_mut() },
            issued: 0,
            returned: 0,
        }
    }

    /// Any slab of the class.
    pub fn any(&self) -> Option<&'static Slab> {
        self.available.first().or(self.full.first())
    }
}

/// Every function's safety condition: the heap's lock is held, and a slab given is on the list or, for `push`, on none.
#[allow(clippy::missing_safety_doc)]
impl SlabList {
    #[inline]
    pub fn first(&self) -> Option<&'static Slab> {
        // SAFETY: INV-RECORD: slab records are never unmapped.
        unsafe { self.first.as_ref() }
    }

    pub unsafe fn push(&mut self, slab: &Slab) {
        let record = (&raw const *slab).cast_mut();
        // SAFETY: INV-HEAP: links are guarded by the heap's lock.
        unsafe {
            slab.links().write(Links {
                next: self.first,
                prev: null_mut(),
            });
            if let Some(old) = self.first.as_ref() {
                (*old.links()).prev = record;
            }
        }
        self.first = record;
    }

    pub unsafe fn remove(&mut self, slab: &Slab) {
        // SAFETY: INV-HEAP: links are guarded by the heap's lock.
        unsafe {
            let Links { next, prev } = slab.links().read();
            match prev.as_ref() {
                Some(prev) => (*prev.links()).next = next,
                None => self.first = next,
            }
            if let Some(next) = next.as_ref() {
                (*next.links()).prev = prev;
            }
        }
    }

    /// The slab after `slab`.
    pub unsafe fn after(slab: &Slab) -> Option<&'static Slab> {
        // SAFETY: INV-HEAP: links are guarded by the heap's lock.
        unsafe { (*slab.links()).next.as_ref() }
    }
}
