//! A slab: blocks of one class in one span of granules, and the record that says which of them are free.
//!
//! Knows `segment`. Free blocks are bits, not links: giving a block back writes no block memory (which is cold by
//! then), bits that other threads set merge word by word, a second free of the same block finds its bit set, and
//! blocks come out in the order of addresses.
//!
//! | state | owner | blocks |
//! |---|---|---|
//! | owned | a heap | each is held by the program, in a thread's cache, in `free`, or in `remote` |
//! | released | none | all were in `free`; span and bitmaps are back in the shard, the record waits for reuse |
//!
//! Records are never unmapped and only ever reused as records (INV-RECORD): a thread that freed the last block may
//! still announce the slab after it was released. Such an announcement goes to whoever owns the record by then, or
//! to [`LIMBO`]; it is never dropped, so `summary` always tells the truth.
//!
//! An announcement that meets a change of owner: the freer puts the slab on the stack of the owner it read, *then* looks
//! at the owner again; the mover changes the owner, *then* looks whether the slab is dirty. One of them sees the other
//! and passes the former owner's stack on.

mod bits;
mod record;
pub mod remote;

pub use bits::Taken;
pub use record::{Links, Slab, create, overhead, release};

use crate::segment::{page_map, shard};
use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};
use core::ptr;
use remote::DirtyStack;

/// The part of a heap that a slab knows: where its remote frees are announced.
#[repr(C)]
pub struct Owner {
    pub dirty: DirtyStack<Slab>,
    /// The owner's number, from 1: what tags in the page map hold.
    pub number: u32,
    /// Once slabs of this many granules are announced, those who free drain them in the owner's place: the owner may
    /// be idle, or gone.
    pub help_at: AtomicU32,
}

/// Announced slabs that had no owner at that moment.
pub static LIMBO: DirtyStack<Slab> = DirtyStack::new();

/// The tag of blocks of `class` that belong to owner `number`.
#[inline]
pub const fn tag(number: u32, class: usize) -> u32 {
    (number << 8) | (class as u32 * 2)
}

/// The class in the tag of a small block.
#[inline]
pub const fn class_of_tag(tag: u32) -> usize {
    (tag as usize & 0xff) >> 1
}

/// The owner's number in a tag; 0 when the granule holds no slab.
#[inline]
pub const fn owner_of_tag(tag: u32) -> u32 {
    tag >> 8
}

/// Puts an announced slab where its owner will find it. Returns the owner if it has so many announced slabs
/// that it needs help with them.
///
/// # Safety
/// The caller has the duty to drain `slab`; it is passed on.
pub unsafe fn announce(slab: *mut Slab) -> Option<&'static Owner> {
    // SAFETY: INV-RECORD: slab records and owners are never unmapped.
    unsafe {
        let weight = (*slab).class().granules as u32;
        let Some(owner) = (*slab).owner().as_ref() else {
            LIMBO.push(slab, weight);
            return None;
        };
        let depth = owner.dirty.push(slab, weight);
        if !ptr::eq((*slab).owner(), owner) {
            // The slab has moved meanwhile, and its former owner may never look at its stack again.
            pass_on(&owner.dirty);
            return None;
        }
        (depth >= owner.help_at.load(Relaxed)).then_some(owner)
    }
}

/// Announces all slabs on a stack again, to those who own them now.
#[cold]
fn pass_on(stack: &DirtyStack<Slab>) {
    let mut slab = stack.take_all();
    while !slab.is_null() {
        // SAFETY: INV-RECORD: the taker of a stack has the duty for each of its slabs and passes it on.
        unsafe {
            let next = (*slab).next_dirty();
            announce(slab);
            slab = next;
        }
    }
}

/// Passes on what is in [`LIMBO`]; called on cold paths.
#[inline]
pub fn empty_limbo() {
    if !LIMBO.is_empty() {
        pass_on(&LIMBO);
    }
}

/// In a forked child, before any lock is released: drops what is announced without an owner. No thread is left that could
/// be late, so released slabs are clean from here on.
pub fn forget_announcements() {
    LIMBO.take_all();
    for shard in shard::all() {
        // Not to be had: as for a heap.
        if let Some(pool) = shard.try_lock() {
            // SAFETY: INV-RECORD: a free slab record is still a valid one.
            pool.meta
                .each_free_slab(|record| unsafe { (*record.cast::<Slab>()).forget_announcement() });
        }
    }
}

/// The slab of a small block; null when its granule holds no slab (any more).
#[inline]
pub fn slab_of(block: *const u8) -> *mut Slab {
    match owner_of_tag(page_map::tag_at(block)) {
        0 => ptr::null_mut(),
        _ => page_map::record_at(block),
    }
}
