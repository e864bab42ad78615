//! A heap with its lock held: blocks out of slabs, blocks back into them, remote frees home.

use super::orphans;
use super::{HELP_FLOOR, HELP_SHARE, Heap, ORPHANS, Slabs};
use crate::base::size_class::{CLASSES, NUM_CLASSES};
use crate::segment::shard::Shard;
use crate::slab::{self, Slab, Taken};
use crate::sync::Guard;
use crate::sync::atomic::Ordering::*;
use core::ptr;

/// A misuse found while the lock was held; reported after it is released, when the block's slab may be gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What was freed.
    pub at: *mut u8,
    /// The start of the block around it: `at` itself if it was freed twice.
    pub block: *mut u8,
    pub size: usize,
}

impl Fault {
    fn twice(block: *mut u8, class: usize) -> Fault {
        Fault {
            at: block,
            block,
            size: CLASSES[class].size as usize,
        }
    }

    fn inside(at: *mut u8, slab: &Slab) -> Fault {
        Fault {
            at,
            block: slab.block_around(at),
            size: slab.class().size as usize,
        }
    }
}

#[must_use = "call unlock, which gives surplus memory back and reports faults"]
pub struct LockedHeap<'a> {
    pub(super) heap: &'a Heap,
    guard: Guard<'a>,
    /// A shard that holds more free memory than it should.
    surplus: Option<&'static Shard>,
    fault: Option<Fault>,
}

impl Heap {
    #[inline]
    pub fn lock(&self) -> LockedHeap<'_> {
        LockedHeap {
            heap: self,
            guard: self.lock.lock(),
            surplus: None,
            fault: None,
        }
    }

    /// Locks the heap if that needs no waiting.
    pub fn try_lock(&self) -> Option<LockedHeap<'_>> {
        let guard = self.lock.try_lock()?;
        Some(LockedHeap {
            heap: self,
            guard,
            surplus: None,
            fault: None,
        })
    }
}

impl LockedHeap<'_> {
    /// Takes note of a fault found in another heap.
    pub(super) fn note(&mut self, fault: Option<Fault>) {
        self.fault = self.fault.or(fault);
    }

    /// Releases the lock, then does what had better not be done under it.
    #[must_use]
    pub fn unlock(self) -> Option<Fault> {
        #[cfg(debug_assertions)]
        self.check_now_and_then();
        let LockedHeap {
            guard,
            surplus,
            fault,
            ..
        } = self;
        drop(guard);
        if let Some(shard) = surplus {
            shard.purge_excess();
        }
        fault
    }

    #[expect(
        clippy::mut_from_ref,
        reason = "the heap's lock makes the reference unique"
    )]
    #[inline]
    pub(super) fn slabs(&self) -> &mut Slabs {
        // SAFETY: INV-HEAP: the lock is held, and no function keeps the reference over a call of another one.
        unsafe { &mut *self.heap.slabs.get() }
    }

    /// Takes up to `most` blocks of `class`, linked in front of `rest`; fewer when slabs at hand have fewer, none when
    /// memory is exhausted.
    pub fn take(&mut self, class: usize, most: u32, rest: *mut u8) -> Taken {
        let mut all = Taken {
            first: rest,
            count: 0,
        };
        while all.count < most {
            let slab = match self.slabs().classes[class].available.first() {
                Some(slab) => slab,
                // A new slab only for the first block: the rest of a batch is not worth one.
                None if all.count > 0 => break,
                None => match self.add_slab(class) {
                    Some(slab) => slab,
                    None => break,
                },
            };
            // SAFETY: INV-OWNER: the slab is this heap's, whose lock is held.
            let got = unsafe { slab.take(most - all.count, all.first) };
            all = Taken {
                first: got.first,
                count: all.count + got.count,
            };
            self.after_take(class, slab, got.count);
        }
        all
    }

    /// Takes one block without touching its memory; the flag says that it reads as zero.
    pub fn take_one(&mut self, class: usize) -> Option<(*mut u8, bool)> {
        let slab = match self.slabs().classes[class].available.first() {
            Some(slab) => slab,
            None => self.add_slab(class)?,
        };
        // SAFETY: INV-OWNER: the slab is this heap's, whose lock is held.
        let block = unsafe { slab.take_one() };
        self.after_take(class, slab, block.is_some() as u32);
        block
    }

    #[inline]
    fn after_take(&mut self, class: usize, slab: &Slab, count: u32) {
        let list = &mut self.slabs().classes[class];
        list.issued += count as u64;
        // SAFETY: INV-HEAP: a slab with free blocks is on the available list.
        unsafe {
            if slab.free_count() == 0 {
                list.available.remove(slab);
                list.full.push(slab);
            }
        }
    }

    #[cold]
    fn add_slab(&mut self, class: usize) -> Option<&'static Slab> {
        let slab = match orphans::adopt(self, class) {
            Some(slab) => slab,
            None => {
                let record = slab::create(self.heap.shard(), class, &self.heap.owner);
                // SAFETY: INV-RECORD: slab records are never unmapped.
                unsafe { record.as_ref()? }
            }
        };
        self.insert(slab);
        Some(slab)
    }

    /// Puts a slab that carries this heap's tag on the list where it belongs.
    fn insert(&mut self, slab: &Slab) {
        let slabs = self.slabs();
        let list = &mut slabs.classes[slab.class_number()];
        // SAFETY: INV-HEAP: the slab is this heap's and on no list.
        unsafe {
            match slab.free_count() {
                0 => list.full.push(slab),
                _ => list.available.push(slab),
            }
        }
        slabs.granules += slab.class().granules as u32;
        self.set_help_mark();
    }

    /// Takes a slab off its list.
    fn remove(&mut self, slab: &Slab, was_full: bool) {
        let slabs = self.slabs();
        let list = &mut slabs.classes[slab.class_number()];
        // SAFETY: INV-HEAP: the slab is this heap's and on the list that its count says.
        unsafe {
            match was_full {
                true => list.full.remove(slab),
                false => list.available.remove(slab),
            }
        }
        slabs.granules -= slab.class().granules as u32;
        self.set_help_mark();
    }

    fn set_help_mark(&self) {
        if !ptr::eq(self.heap, &ORPHANS) {
            let mark = HELP_FLOOR.max(self.slabs().granules / HELP_SHARE);
            self.heap.owner.help_at.store(mark, Relaxed);
        }
    }

    /// Gives back a block that was of `class` and this heap's when it was freed.
    #[inline]
    pub fn give(&mut self, block: *mut u8, class: usize) {
        // SAFETY: INV-RECORD: slab records are never unmapped.
        let slab = unsafe { slab::slab_of(block).as_ref() }
            .filter(|slab| ptr::eq(slab.owner(), &self.heap.owner) && slab.class_number() == class);
        let Some(slab) = slab else {
            // The slab could go only because the block had come home before.
            self.fault.get_or_insert(Fault::twice(block, class));
            return;
        };
        let Some(index) = slab.index_of(block) else {
            self.fault.get_or_insert(Fault::inside(block, slab));
            return;
        };
        // SAFETY: INV-OWNER: the slab is this heap's, whose lock is held.
        unsafe {
            let was_full = slab.free_count() == 0;
            if !slab.give(index) {
                self.fault.get_or_insert(Fault::twice(block, class));
                return;
            }
            self.after_give(slab, was_full, 1);
        }
    }

    /// # Safety
    /// The slab is this heap's; `count` of its blocks came back, and before that it was full if `was_full`.
    #[inline]
    unsafe fn after_give(&mut self, slab: &Slab, was_full: bool, count: u32) {
        let list = &mut self.slabs().classes[slab.class_number()];
        list.returned += count as u64;
        // SAFETY: INV-OWNER, INV-HEAP: as the caller promises.
        unsafe {
            if slab.all_free() {
                self.remove(slab, was_full);
                let (over, shard) = slab::release((&raw const *slab).cast_mut());
                if over {
                    self.surplus = Some(shard);
                }
            } else if was_full {
                list.full.remove(slab);
                list.available.push(slab);
            }
        }
    }

    /// Brings home what other threads freed.
    pub fn drain(&mut self) {
        slab::empty_limbo();
        if self.heap.owner.dirty.is_empty() {
            return;
        }
        let mut next = self.heap.owner.dirty.take_all();
        // SAFETY: INV-RECORD: slab records are never unmapped; taking the stack gave us the duty for each.
        while let Some(slab) = unsafe { next.as_ref() } {
            next = slab.next_dirty();
            // SAFETY: INV-OWNER: ownership can't change while the owner's lock is held.
            unsafe {
                match ptr::eq(slab.owner(), &self.heap.owner) {
                    true => self.drain_slab(slab),
                    false => _ = slab::announce((&raw const *slab).cast_mut()),
                }
            }
        }
    }

    /// # Safety
    /// The slab is this heap's, and the caller has the duty to drain it.
    unsafe fn drain_slab(&mut self, slab: &Slab) {
        // SAFETY: INV-OWNER: as the caller promises.
        unsafe {
            let was_full = slab.free_count() == 0;
            let (came, twice) = slab.drain_remote();
            if let Some(block) = twice {
                self.fault
                    .get_or_insert(Fault::twice(block, slab.class_number()));
            }
            if came > 0 {
                self.after_give(slab, was_full, came);
            }
        }
    }

    /// Moves every slab to `to`.
    pub fn hand_over(&mut self, to: &mut LockedHeap<'_>) {
        for class in 0..NUM_CLASSES {
            while let Some(slab) = self.slabs().classes[class].any() {
                self.pass(slab, to);
            }
            let from = &mut self.slabs().classes[class];
            let (issued, returned) = (from.issued, from.returned);
            (from.issued, from.returned) = (0, 0);
            to.slabs().classes[class].issued += issued;
            to.slabs().classes[class].returned += returned;
        }
    }

    fn pass(&mut self, slab: &'static Slab, to: &mut LockedHeap<'_>) {
        // SAFETY: INV-HEAP, INV-OWNER: the slab is this heap's, and both locks are held.
        unsafe {
            self.remove(slab, slab.free_count() == 0);
            slab.move_to(&to.heap.owner);
        }
        to.insert(slab);
    }

    /// Gives one slab of `class` with free blocks away; its blocks count as the new owner's from then on.
    pub(super) fn give_away(&mut self, class: usize, to: &LockedHeap<'_>) -> Option<&'static Slab> {
        let slab = self.slabs().classes[class].available.first()?;
        // SAFETY: INV-HEAP, INV-OWNER: the slab is this heap's, and both locks are held.
        unsafe {
            self.remove(slab, false);
            let held = slab.class().blocks as u64 - slab.free_count() as u64;
            self.slabs().classes[class].returned += held;
            to.slabs().classes[class].issued += held;
            slab.move_to(&to.heap.owner);
        }
        Some(slab)
    }

    /// Granules in slabs.
    pub fn granules(&self) -> u32 {
        self.slabs().granules
    }

    pub(super) fn is(&self, heap: &Heap) -> bool {
        ptr::eq(self.heap, heap)
    }
}
