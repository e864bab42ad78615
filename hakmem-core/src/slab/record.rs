//! The record of a slab, its creation from a span and its release.

use super::bits::{self, Taken};
use super::remote::{self, Freed, Stacked};
use super::{Owner, pass_on, tag};
use crate::base::size_class::{CLASSES, Class, GRANULE};
use crate::segment::page_map::{self, Kind};
use crate::segment::shard;
use crate::segment::shard::Shard;
use crate::segment::super_slab::SuperSlab;
use crate::segment::{self, meta::SLAB_RECORD};
use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::*};
use core::cell::UnsafeCell;
use core::mem::size_of;
use core::ptr::{null, null_mut};
use core::slice;

const LINE: usize = 64;

/// One cache line for the holder of the owner's lock, one that every thread reads.
#[repr(C, align(64))]
pub struct Slab {
    own: UnsafeCell<Own>,
    shared: Shared,
}

/// Guarded by the owner's lock.
#[repr(C, align(64))]
struct Own {
    links: Links,
    free_words: *mut u64,
    home: *mut SuperSlab,
    /// Bits set in `free_words`.
    free: u32,
    /// No word before this one has a bit set.
    first_word: u32,
    /// Blocks from this index on were never handed out since the span was zero.
    virgin: u32,
}

/// Neighbours in one of the owner's lists.
pub struct Links {
    pub next: *mut Slab,
    pub prev: *mut Slab,
}

/// `base`, `remote_words` and `class` change only while nobody can hold a block of the slab; a late announcer may still
/// ask for the class. `summary`, `next_dirty` and `depth` outlive a release.
#[repr(C, align(64))]
struct Shared {
    owner: AtomicPtr<Owner>,
    base: *mut u8,
    remote_words: *mut AtomicU64,
    summary: AtomicU64,
    next_dirty: AtomicPtr<Slab>,
    depth: AtomicU32,
    class: AtomicU32,
}

const _: () = assert!(size_of::<Slab>() == SLAB_RECORD);

// SAFETY: INV-RECORD: both return fields of the record, which is never unmapped.
unsafe impl Stacked for Slab {
    fn next(&self) -> &AtomicPtr<Slab> {
        &self.shared.next_dirty
    }

    fn depth(&self) -> &AtomicU32 {
        &self.shared.depth
    }
}

/// Bytes of one of a slab's two bitmaps: whole cache lines, since different threads write them.
const fn bitmap_bytes(class: &Class) -> usize {
    (class.words as usize * 8).div_ceil(LINE) * LINE
}

/// Makes a slab of `class` for `owner` from the shard's granules; null when memory is exhausted. All blocks are free.
pub fn create(shard: &Shard, class: usize, owner: &Owner) -> *mut Slab {
    let what = &CLASSES[class];
    let bitmaps = 2 * bitmap_bytes(what);
    let (slab, words, span, grew) = {
        let mut pool = shard.lock();
        let slab: *mut Slab = pool.meta.alloc_slab().cast();
        if slab.is_null() {
            return null_mut();
        }
        let words = pool.meta.alloc(bitmaps);
        let span = if words.is_null() {
            None
        } else {
            pool.take_span(what.granules as u32)
        };
        let Some(span) = span else {
            // SAFETY: INV-META: both were allocated just above and are not used.
            unsafe {
                if !words.is_null() {
                    pool.meta.free(words, bitmaps);
                }
                pool.meta.free_slab(slab.cast());
            }
            return null_mut();
        };
        (slab, words, span, pool.has_grown())
    };
    if grew {
        segment::relieve();
    }
    // SAFETY: INV-RECORD: the record is ours alone but for `summary`, `next_dirty` and `depth`, which a late announcer
    // may use; those are not written. The bitmaps have room for `words` each.
    unsafe {
        words.add(bitmaps / 2).write_bytes(0, bitmaps / 2);
        (*slab).own.get().write(Own {
            links: Links {
                next: null_mut(),
                prev: null_mut(),
            },
            free_words: words.cast(),
            home: span.home,
            free: what.blocks as u32,
            first_word: 0,
            virgin: if span.clean { 0 } else { what.blocks as u32 },
        });
        let free_words = slice::from_raw_parts_mut(words.cast(), what.words as usize);
        bits::fill(free_words, what.blocks as usize);
        (*slab).shared.base = span.base;
        (*slab).shared.remote_words = words.add(bitmaps / 2).cast();
        (*slab).shared.class.store(class as u32, Relaxed);
        (*slab)
            .shared
            .owner
            .store((&raw const *owner).cast_mut(), Release);
    }
    page_map::set(
        span.base,
        what.granules as usize,
        tag(owner.number, class),
        slab,
    );
    slab
}

/// Returns a slab whose blocks are all free to its shard; true when that shard's `purge_excess` should run.
///
/// # Safety
/// The caller holds the owner's lock, the slab is on none of its lists, and all its blocks are in `free`.
pub unsafe fn release(slab: *mut Slab) -> (bool, &'static Shard) {
    // SAFETY: INV-RECORD: as the caller promises, nobody but a late announcer knows the slab.
    unsafe {
        let what = (*slab).class();
        let own = (*slab).own.get();
        let (base, home, words) = ((*slab).shared.base, (*own).home, (*own).free_words);
        debug_assert_eq!((*own).free, what.blocks as u32);
        page_map::set(base, what.granules as usize, Kind::FreeSpan as u32, home);
        (*slab).set_owner(null());
        let shard = &shard::all()[(*home).shard as usize];
        let mut pool = shard.lock();
        pool.meta.free(words.cast(), 2 * bitmap_bytes(what));
        pool.meta.free_slab(slab.cast());
        (pool.give_span(base, home, what.granules as u32), shard)
    }
}

/// Bytes of records and bitmaps that a slab of this class takes.
pub const fn overhead(class: &Class) -> usize {
    SLAB_RECORD + 2 * bitmap_bytes(class)
}

/// What any thread may ask.
impl Slab {
    #[inline]
    pub fn owner(&self) -> *const Owner {
        self.shared.owner.load(Acquire)
    }

    #[inline]
    pub fn class_number(&self) -> usize {
        self.shared.class.load(Relaxed) as usize
    }

    #[inline]
    pub fn class(&self) -> &'static Class {
        &CLASSES[self.class_number()]
    }

    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.shared.base
    }

    pub fn next_dirty(&self) -> *mut Slab {
        self.shared.next_dirty.load(Relaxed)
    }

    /// The number of the block that starts at `at`; `None` when none starts exactly there.
    #[inline]
    pub fn index_of(&self, at: *const u8) -> Option<usize> {
        let what = self.class();
        let offset = at.addr().wrapping_sub(self.shared.base.addr());
        let index = what.index_of(offset);
        (index * what.size as usize == offset && index < what.blocks as usize).then_some(index)
    }

    /// The block that holds the byte at `at`.
    pub fn block_around(&self, at: *const u8) -> *mut u8 {
        let what = self.class();
        let index = what.index_of(at.addr().wrapping_sub(self.shared.base.addr()));
        self.block(index)
    }

    #[inline]
    fn block(&self, index: usize) -> *mut u8 {
        self.shared
            .base
            .wrapping_add(index * self.class().size as usize)
    }

    fn remote_words(&self) -> &[AtomicU64] {
        // SAFETY: INV-RECORD: a slab with a block in somebody's hands has its bitmaps.
        unsafe { slice::from_raw_parts(self.shared.remote_words, self.class().words as usize) }
    }

    /// Somebody has, or had before a fork, the duty to drain the slab.
    pub fn is_dirty(&self) -> bool {
        self.shared.summary.load(Acquire) != 0
    }

    /// The slab is clean from now on, although nobody drained it. Only while no other thread exists.
    pub(super) fn forget_announcement(&self) {
        self.shared.summary.store(0, Relaxed);
    }

    /// Records a free by a thread that is not the owner.
    #[inline]
    pub fn free_remotely(&self, index: usize) -> Freed {
        remote::free(self.remote_words(), &self.shared.summary, index)
    }
}

/// What only the holder of the owner's lock may ask; that is the safety condition of every function here.
#[allow(clippy::missing_safety_doc)]
impl Slab {
    #[expect(
        clippy::mut_from_ref,
        reason = "the owner's lock makes the reference unique"
    )]
    #[inline]
    unsafe fn own(&self) -> &mut Own {
        // SAFETY: INV-OWNER: the caller holds the owner's lock, and no function here keeps the reference.
        unsafe { &mut *self.own.get() }
    }

    pub fn links(&self) -> *mut Links {
        self.own.get().cast()
    }

    #[inline]
    unsafe fn free_words<'a>(&self) -> &'a mut [u64] {
        // SAFETY: INV-OWNER: an owned slab has its bitmaps, and its owner's lock guards the free one.
        unsafe {
            slice::from_raw_parts_mut((*self.own.get()).free_words, self.class().words as usize)
        }
    }

    pub unsafe fn free_count(&self) -> u32 {
        // SAFETY: INV-OWNER: as the caller promises.
        unsafe { self.own().free }
    }

    #[inline]
    pub unsafe fn all_free(&self) -> bool {
        // SAFETY: INV-OWNER: as the caller promises.
        unsafe { self.own().free == self.class().blocks as u32 }
    }

    /// Takes up to `most` free blocks and links them, in the order of addresses, in front of `rest`.
    pub unsafe fn take(&self, most: u32, rest: *mut u8) -> Taken {
        // SAFETY: INV-OWNER: as the caller promises.
        let (own, words) = unsafe { (self.own(), self.free_words()) };
        let (base, size) = (self.shared.base, self.class().size as usize);
        let (mut first, mut last) = (rest, null_mut::<u8>());
        let (mut count, mut top) = (0, 0);
        let stop = bits::take_many(words, own.first_word as usize, most, |index| {
            let block = base.wrapping_add(index * size);
            if last.is_null() {
                first = block;
            } else {
                // SAFETY: INV-BLOCK: a free block is ours to write and at least a word long.
                unsafe { last.cast::<*mut u8>().write(block) };
            }
            last = block;
            top = index as u32;
            count += 1;
        });
        own.first_word = stop as u32;
        if count > 0 {
            // SAFETY: INV-BLOCK: as above.
            unsafe { last.cast::<*mut u8>().write(rest) };
            own.free -= count;
            own.virgin = own.virgin.max(top + 1);
        }
        Taken { first, count }
    }

    /// Takes one free block without touching its memory; the flag says that it reads as zero.
    pub unsafe fn take_one(&self) -> Option<(*mut u8, bool)> {
        // SAFETY: INV-OWNER: as the caller promises.
        let (own, words) = unsafe { (self.own(), self.free_words()) };
        let index = bits::take_lowest(words, own.first_word as usize)?;
        own.first_word = (index / 64) as u32;
        own.free -= 1;
        let zero = index as u32 >= own.virgin;
        own.virgin = own.virgin.max(index as u32 + 1);
        Some((self.block(index), zero))
    }

    /// Gives block `index` back; false when it is free already.
    #[inline]
    pub unsafe fn give(&self, index: usize) -> bool {
        // SAFETY: INV-OWNER: as the caller promises.
        let (own, words) = unsafe { (self.own(), self.free_words()) };
        let (word, bit) = (index / 64, 1u64 << (index % 64));
        if words[word] & bit != 0 {
            return false;
        }
        words[word] |= bit;
        own.free += 1;
        own.first_word = own.first_word.min(word as u32);
        true
    }

    /// Merges what other threads freed. Only for the party that has the duty to drain the slab. Returns the number of
    /// blocks that came home, and one that turned out to be free already.
    pub unsafe fn drain_remote(&self) -> (u32, Option<*mut u8>) {
        // SAFETY: INV-OWNER: as the caller promises.
        let (own, words) = unsafe { (self.own(), self.free_words()) };
        let (mut came, mut twice) = (0, None);
        remote::drain(self.remote_words(), &self.shared.summary, |word, bits| {
            let again = words[word] & bits;
            if again != 0 {
                twice = Some(word * 64 + again.trailing_zeros() as usize);
            }
            came += (bits & !again).count_ones();
            words[word] |= bits;
            own.first_word = own.first_word.min(word as u32);
        });
        own.free += came;
        (came, twice.map(|index| self.block(index)))
    }

    /// Changes the owner. See the head of `mod.rs`: the read-modify-write carries the proof.
    unsafe fn set_owner(&self, owner: *const Owner) {
        let former = self.owner();
        self.shared.owner.store(owner.cast_mut(), Release);
        if self.shared.summary.fetch_or(0, AcqRel) != 0 {
            // SAFETY: INV-RECORD: owners are never unmapped, and a slab that changes its owner has one.
            pass_on(unsafe { &(*former).dirty });
        }
    }

    /// Hands the slab to another owner; the caller holds the locks of both.
    pub unsafe fn move_to(&self, owner: &Owner) {
        // SAFETY: INV-OWNER: as the caller promises.
        unsafe { self.set_owner(owner) };
        let tag = tag(owner.number, self.class_number());
        let record = (&raw const *self).cast_mut();
        page_map::set(
            self.shared.base,
            self.class().granules as usize,
            tag,
            record,
        );
    }

    /// Checks the record against itself and the page map.
    pub unsafe fn check(&self, owner: *const Owner) -> Result<(), &'static str> {
        // SAFETY: INV-OWNER: as the caller promises; owners are never unmapped.
        let (own, words, number) = unsafe { (self.own(), self.free_words(), (*owner).number) };
        let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
        let expected = tag(number, self.class_number());
        let tags_right = (0..self.class().granules as usize)
            .all(|i| page_map::tag_at(self.shared.base.wrapping_add(i * GRANULE)) == expected);
        match () {
            _ if ones != own.free => Err("slab's count of free blocks"),
            _ if words[..own.first_word as usize]
                .iter()
                .any(|&word| word != 0) =>
            {
                Err("slab's first free word")
            }
            _ if self.owner() != owner => Err("slab's owner"),
            _ if !tags_right => Err("slab's tags in the page map"),
            _ => Ok(()),
        }
    }
}
