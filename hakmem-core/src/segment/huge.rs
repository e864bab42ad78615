//! Huge blocks: larger than any class, or aligned to more than a granule. Each has a mapping of its own.
//!
//! The block's address is a multiple of the granule, its length whole granules. Freed mappings are kept for reuse in a
//! few lock-free slots, within a bound that a single peak leaves at zero and a repeated one raises.

use super::page_map::{self, Kind};
use super::retain::Retain;
use super::shard;
use super::slots::{self, Slots};
use crate::base::align::round_up;
use crate::base::size_class::GRANULE;
use crate::os;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use core::cell::UnsafeCell;
use core::ptr::{self, null_mut, without_provenance_mut};

#[repr(C)]
struct Huge {
    base: *mut u8,
    len: usize,
    /// The number of the owner whose shard holds this record.
    owner: u32,
}

/// A huge block that is ready for use.
pub struct Block {
    pub base: *mut u8,
    /// The block reads as zero.
    pub zero: bool,
}

static CACHE: Slots<Huge> = Slots::new();
static CACHED: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static LIVE_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Tags tell the inside of a block only so far: the rest of a larger one is not worth the map's memory.
const MARKED: usize = 1 << 30;

/// Most bytes of freed huge blocks that stay mapped beyond a share of those in use.
const RETAIN_LEARNED: usize = 48 << 20;
/// A dirty block up to this size is cleared by hand; the pages of a larger one are exchanged for zero pages.
const CLEAR_BY_HAND: usize = 4 << 20;

/// The bound, which whoever comes first may look at or change; others do without.
struct Bound {
    busy: AtomicBool,
    retain: UnsafeCell<Retain>,
}

// SAFETY: INV-RETAIN: `retain` is reached only between taking and releasing `busy`.
unsafe impl Sync for Bound {}

static BOUND: Bound = Bound {
    busy: AtomicBool::new(false),
    retain: UnsafeCell::new(Retain::new(0)),
};

impl Bound {
    /// `None` when another thread is at it: never waits, so that no interrupted thread can hold anybody up.
    fn with<T>(&self, f: impl FnOnce(&mut Retain) -> T) -> Option<T> {
        if self.busy.swap(true, Acquire) {
            return None;
        }
        // SAFETY: INV-RETAIN: `busy` was free and is now ours.
        let value = f(unsafe { &mut *self.retain.get() });
        self.busy.store(false, Release);
        Some(value)
    }
}

/// After fork: threads that were at the bound or at a slot do not exist in the child.
pub fn reset_after_fork() {
    BOUND.busy.store(false, Release);
    CACHE.reset_after_fork();
}

/// A model begins with the same bound in every execution.
#[cfg(loom)]
pub fn forget_bound() {
    BOUND.with(|retain| *retain = Retain::new(0));
}

/// Bytes and number of huge blocks in use, and bytes kept for reuse.
pub fn stats() -> (usize, usize, usize) {
    (
        LIVE.load(Relaxed),
        LIVE_COUNT.load(Relaxed),
        CACHED.load(Relaxed),
    )
}

/// A block of at least `size` bytes at a multiple of `align` (a power of two). With `zero` its content is zero.
/// `owner` is the number of the calling heap. `None` when memory is exhausted.
pub fn alloc(size: usize, align: usize, zero: bool, owner: u32) -> Option<Block> {
    let len = round_up(size.max(1), GRANULE)?;
    let align = align.max(GRANULE);
    let block = match take_cached(len, align) {
        Some(record) => reuse(record, zero),
        None => {
            super::relieve();
            map_new(len, align, owner)?
        }
    };
    Some(block)
}

/// Set in what stands in place of a record once the block was unmapped. Records are aligned, so it tells them apart.
const NOTE: usize = 1;

/// The record of the huge block at `at`, whose tag says that there is one; null if it has been unmapped meanwhile.
fn record_of(at: *const u8) -> *mut Huge {
    let record: *mut Huge = page_map::record_at(at);
    match record.addr() & NOTE {
        0 => record,
        _ => null_mut(),
    }
}

/// Usable bytes of the block at `at`.
///
/// # Safety
/// `at` is a huge block that the caller holds.
pub unsafe fn usable_size(at: *const u8) -> usize {
    // SAFETY: INV-RECORD: a huge block's granules lead to its record.
    unsafe { (*record_of(at)).len }
}

/// Start and length of the block that holds `at`, for messages: the block may vanish meanwhile.
pub fn bounds(at: *const u8) -> Option<(*mut u8, usize)> {
    // SAFETY: INV-RECORD: records are never unmapped; a stale one only makes the message wrong.
    unsafe { record_of(at).as_ref().map(|huge| (huge.base, huge.len)) }
}

/// Frees the block at `at`; false when it is not (or no longer) a huge block. A caller that may have `interrupted` the
/// holder of a shard's lock, on the same thread, says so.
pub fn free(at: *mut u8, interrupted: bool) -> bool {
    // The claim comes before the look at the record: another thread that frees the block too may leave a note there.
    if !at.addr().is_multiple_of(GRANULE)
        || !page_map::claim(at, Kind::Huge as u32, Kind::HugeKept as u32)
    {
        return false;
    }
    let record = record_of(at);
    // SAFETY: INV-RECORD: the claim makes the record ours alone.
    let len = unsafe { (*record).len };
    LIVE.fetch_sub(len, Relaxed);
    LIVE_COUNT.fetch_sub(1, Relaxed);
    if !put_cached(record, len) {
        let owner = release(record);
        if !interrupted {
            free_record(record, owner);
        }
        // Else the record, 64 bytes, is lost: a price that only signal handlers inside of the allocator pay.
    }
    true
}

fn set_tags(record: *mut Huge, base: *mut u8, len: usize) {
    page_map::set(base, 1, Kind::Huge as u32, record);
    let len = len.min(MARKED);
    if len > GRANULE {
        page_map::set(
            base.wrapping_add(GRANULE),
            len / GRANULE - 1,
            Kind::HugeInside as u32,
            record,
        );
    }
}

fn clear_tags(base: *mut u8, len: usize) {
    page_map::set::<u8>(
        base,
        len.min(MARKED) / GRANULE,
        Kind::None as u32,
        null_mut(),
    );
}

/// Clears the tags behind the first `new_len` bytes.
fn clear_tail(base: *mut u8, len: usize, new_len: usize) {
    if new_len < MARKED {
        clear_tags(base.wrapping_add(new_len), len.min(MARKED) - new_len);
    }
}

/// Clears the tags of a block that is about to be unmapped, and leaves a note for whoever frees it again.
fn leave_note(base: *mut u8, len: usize) {
    clear_tags(base, len);
    let note: *mut u8 = without_provenance_mut(len | NOTE);
    page_map::set(base, 1, Kind::Released as u32, note);
}

/// The length of the huge block that started at `at` and was unmapped, if the note of it is still there.
pub fn released(at: *const u8) -> usize {
    page_map::record_at::<u8>(at).addr() & !NOTE
}

fn map_new(len: usize, align: usize, owner: u32) -> Option<Block> {
    let record: *mut Huge = shard::of_owner(owner)
        .lock()
        .meta
        .alloc(size_of::<Huge>())
        .cast();
    if record.is_null() {
        return None;
    }
    let base = os::map_aligned(len, align)
        .map(|base| base.as_ptr())
        .filter(|&base| {
            // SAFETY: INV-OS-OWN: mapped just above and not in use.
            page_map::cover(base, len)
                || unsafe {
                    os::unmap(base, len);
                    false
                }
        });
    let Some(base) = base else {
        free_record(record, owner);
        return None;
    };
    BOUND.with(|retain| {
        let most = RETAIN_LEARNED.saturating_sub(retain.limit(0));
        retain.on_refault(len, most)
    });
    // SAFETY: INV-META: the record has room for a Huge and is ours.
    unsafe { record.write(Huge { base, len, owner }) };
    started(record, base, len);
    Some(Block { base, zero: true })
}

fn started(record: *mut Huge, base: *mut u8, len: usize) {
    LIVE.fetch_add(len, Relaxed);
    LIVE_COUNT.fetch_add(1, Relaxed);
    set_tags(record, base, len);
}

fn free_record(record: *mut Huge, owner: u32) {
    // SAFETY: INV-META: the record came from this owner's shard and nobody refers to it.
    unsafe {
        shard::of_owner(owner)
            .lock()
            .meta
            .free(record.cast(), size_of::<Huge>())
    };
}

/// Unmaps a block whose first tag has been claimed; returns whose shard the record belongs to. If the kernel refuses,
/// the block is kept out of use.
fn release(record: *mut Huge) -> u32 {
    // SAFETY: INV-RECORD: the claim makes the record ours alone.
    let Huge { base, len, owner } = unsafe { ptr::read(record) };
    leave_note(base, len);
    // SAFETY: INV-OS-OWN: the block is free and no entry leads to it.
    unsafe {
        if !os::unmap(base, len) {
            // Out of map entries: at least the pages go back.
            os::purge(base, len);
        }
    }
    BOUND.with(|retain| retain.on_purge(len));
    owner
}

fn release_all(record: *mut Huge) {
    let owner = release(record);
    free_record(record, owner);
}

fn put_cached(record: *mut Huge, len: usize) -> bool {
    let live = LIVE.load(Relaxed);
    let limit = BOUND.with(|retain| retain.limit(live)).unwrap_or(0);
    // SAFETY: INV-RECORD: the record is the caller's.
    let address = unsafe { (*record).base.addr() };
    if CACHED.fetch_add(len, Relaxed) + len <= limit && CACHE.put(record, address, len) {
        return true;
    }
    CACHED.fetch_sub(len, Relaxed);
    false
}

/// A cached block that fits without much waste.
fn take_cached(len: usize, align: usize) -> Option<*mut Huge> {
    if CACHED.load(Relaxed) < len {
        return None;
    }
    let fits = |address: usize, have: usize| {
        have >= len && have - len <= len / 4 && address & (align - 1) == 0
    };
    let record = CACHE.take(fits)?;
    // SAFETY: INV-RECORD: the record is ours now.
    let (base, have) = unsafe { ((*record).base, (*record).len) };
    CACHED.fetch_sub(have, Relaxed);
    if fits(base.addr(), have) {
        return Some(record);
    }
    release_all(record);
    None
}

fn reuse(record: *mut Huge, zero: bool) -> Block {
    // SAFETY: INV-RECORD: the record was taken out of the cache and is ours.
    let (base, len) = unsafe { ((*record).base, (*record).len) };
    if zero {
        // SAFETY: INV-OS-OWN: the block is ours and not in use.
        unsafe {
            if len <= CLEAR_BY_HAND || !os::purge(base, len) {
                ptr::write_bytes(base, 0, len);
            }
        }
    }
    started(record, base, len);
    Block { base, zero }
}

/// Unmaps all cached blocks; returns the bytes.
pub fn purge_all() -> usize {
    let mut purged = 0;
    // Counted, because others go on freeing.
    for record in (0..slots::LEN).map_while(|_| CACHE.take(|_, _| true)) {
        // SAFETY: INV-RECORD: the record is ours now.
        let len = unsafe { (*record).len };
        CACHED.fetch_sub(len, Relaxed);
        release_all(record);
        purged += len;
    }
    purged
}

/// Changes the length of a block to hold `size` bytes, moving pages rather than bytes. Returns its new address, or
/// `None` with the block untouched.
///
/// # Safety
/// `at` is a huge block that the caller holds and nobody else uses meanwhile.
pub unsafe fn resize(at: *mut u8, size: usize) -> Option<*mut u8> {
    let new_len = round_up(size.max(1), GRANULE)?;
    let record = record_of(at);
    // SAFETY: INV-RECORD: the caller holds the block.
    let len = unsafe { (*record).len };
    if new_len == len {
        return Some(at);
    }
    let base = if new_len < len {
        let tail = at.wrapping_add(new_len);
        clear_tail(at, len, new_len);
        // SAFETY: INV-OS-OWN: the caller gives the tail up.
        if !unsafe { os::unmap(tail, len - new_len) } {
            set_tags(record, at, len);
            return None;
        }
        at
    } else {
        grow(record, at, len, new_len)?
    };
    // SAFETY: INV-RECORD: the caller holds the block.
    unsafe {
        (*record).base = base;
        (*record).len = new_len;
    }
    set_tags(record, base, new_len);
    LIVE.fetch_add(new_len, Relaxed);
    LIVE.fetch_sub(len, Relaxed);
    Some(base)
}

fn grow(record: *mut Huge, at: *mut u8, len: usize, new_len: usize) -> Option<*mut u8> {
    // SAFETY: INV-OS-OWN: the block is a whole mapping, held by the caller of resize.
    if page_map::cover(at, new_len) && unsafe { os::remap_in_place(at, len, new_len) } {
        return Some(at);
    }
    let target = os::reserve(new_len, GRANULE)?.as_ptr();
    if page_map::cover(target, new_len) {
        // The old range can belong to somebody else as soon as it is unmapped, so its entries go first.
        leave_note(at, len);
        // SAFETY: INV-OS-OWN: the block is held by the caller of resize, the target was reserved just above.
        if unsafe { os::remap_to(at, len, target, new_len) } {
            return Some(target);
        }
        set_tags(record, at, len);
    }
    // SAFETY: INV-OS-OWN: reserved just above and not used.
    unsafe { os::unmap(target, new_len) };
    None
}
