//! The pool's part of the invariant checker.

use super::pool::Pool;

impl Pool {
    /// Checks lists, masks and sums against each other; the message names the first fault.
    pub fn check(&self) -> Result<(), &'static str> {
        let (mut count, mut dirty, mut in_dirt) = (0, 0, 0);
        for (free, list) in self.by_free.iter().enumerate() {
            if list.first.is_null() == (self.filled >> free & 1 == 1) {
                return Err("filled mask of free lists");
            }
            let mut s = list.first;
            while !s.is_null() {
                // SAFETY: INV-SHARD: members of the pool's lists are valid records.
                let super_slab = unsafe { &*s };
                if super_slab.free.count_ones() as usize != free {
                    return Err("SuperSlab on the wrong free list");
                }
                if super_slab.dirty & !super_slab.free != 0 {
                    return Err("dirty granule that is not free");
                }
                count += 1;
                dirty += super_slab.dirty.count_ones() as usize;
                in_dirt += (super_slab.dirty != 0) as usize;
                s = super_slab.by_free.next;
            }
        }
        let mut s = self.by_dirt.first;
        while !s.is_null() {
            in_dirt -= 1;
            // SAFETY: INV-SHARD: members of the pool's lists are valid records.
            s = unsafe { (*s).by_dirt.next };
        }
        match () {
            _ if count != self.super_slabs => Err("number of SuperSlabs"),
            _ if dirty != self.dirty => Err("number of dirty granules"),
            _ if in_dirt != 0 => Err("list of dirty SuperSlabs"),
            _ => Ok(()),
        }
    }
}
