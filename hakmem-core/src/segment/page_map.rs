//! The page map (registry): from any address to the owner and class of the block there, in one probe.
//!
//! One entry per granule of 64 KiB holds two facts: a `u32` *tag*, which the hot path of free reads, and a pointer to
//! the granule's *record* (slab, huge block, emergency chunk), which only cold paths read. Entries live in leaves of
//! 4 GiB of address space each, found through a root indexed by the address's upper half. A leaf is mapped when memory
//! of its range is first used; until then the root leads to one leaf of zeros, so a probe never touches memory that is
//! not mapped, whatever the address, and needs no test for absence.
//!
//! Tag: `owner << 8 | 2 * class` for blocks in slabs (owners count from 1), a [`Kind`] with owner 0 for everything
//! else. Tags are written before the first block of a granule is handed out and cleared after the last one came back;
//! whoever holds a block learnt of it through some synchronisation of the program, so relaxed loads suffice.

use crate::base::size_class::{GRANULE, GRANULE_SHIFT};
use crate::os;
use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering::*};
use core::mem::size_of;
use core::ptr::{null_mut, with_exposed_provenance};

const LEAF_SHIFT: u32 = 32;
const LEAF_LEN: usize = 1 << (LEAF_SHIFT - GRANULE_SHIFT);
/// User space ends here unless a program asks for more by hint, which we never do.
const ADDRESS_BITS: u32 = 47;
const ROOT_LEN: usize = 1 << (ADDRESS_BITS - LEAF_SHIFT);

/// Tags with owner 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// Not ours, or not in use.
    None = 0,
    /// The first granule of a block with a mapping of its own.
    Huge = 2,
    /// A further granule of such a block.
    HugeInside = 4,
    /// A chunk that serves allocations from interrupted allocator code.
    Emergency = 6,
    /// A granule of a segment that no slab uses.
    FreeSpan = 8,
    /// A huge block started here and was unmapped: not ours any more, but worth a better message. The record is its
    /// length.
    Released = 10,
    /// The first granule of a huge block that was freed and is kept for reuse.
    HugeKept = 12,
}

#[repr(C)]
struct Leaf {
    tags: [AtomicU32; LEAF_LEN],
    records: [AtomicPtr<u8>; LEAF_LEN],
}

/// `zero` comes first so that a root entry of 0, taken as an offset from the map's start, leads to it.
#[repr(C)]
struct Map {
    zero: [AtomicU32; LEAF_LEN],
    root: [AtomicUsize; ROOT_LEN],
}

static MAP: Map = Map {
    zero: [const { AtomicU32::new(0) }; LEAF_LEN],
    root: [const { AtomicUsize::new(0) }; ROOT_LEN],
};

/// Leaves are found by their distance from the map, as an address, because they are separate mappings.
#[inline(always)]
fn map_start() -> usize {
    (&raw const MAP).expose_provenance()
}

#[inline(always)]
fn index_in_leaf(address: usize) -> usize {
    // Truncation to the lower half drops what the root was indexed with.
    (address as u32 >> GRANULE_SHIFT) as usize
}

/// The tag of the granule that holds `address`; 0 for every address that is not ours.
#[inline(always)]
pub fn tag_at(address: *const u8) -> u32 {
    probe(address).unwrap_or(Kind::None as u32)
}

/// As [`tag_at`], with `None` for addresses beyond user space, so that a hot path can leave at once.
#[inline(always)]
pub fn probe(address: *const u8) -> Option<u32> {
    let address = address.addr();
    // Opaque, or the compiler shifts twice: once to compare, once to index.
    let top = os::opaque_word(address >> LEAF_SHIFT);
    if top >= ROOT_LEN {
        return None;
    }
    let offset = MAP.root[top].load(Relaxed);
    // SAFETY: INV-MAP-LEAF: an offset of 0 leads to `zero`, any other one to a leaf that stays mapped for good; both
    // begin with LEAF_LEN tags.
    unsafe {
        let tags: *const AtomicU32 = with_exposed_provenance(map_start().wrapping_add(offset));
        Some((*tags.add(index_in_leaf(address))).load(Relaxed))
    }
}

fn leaf_of(address: usize) -> Option<&'static Leaf> {
    let offset = MAP.root.get(address >> LEAF_SHIFT)?.load(Acquire);
    if offset == 0 {
        return None;
    }
    // SAFETY: INV-MAP-LEAF: a leaf is published complete and stays mapped for good.
    Some(unsafe { &*with_exposed_provenance::<Leaf>(map_start().wrapping_add(offset)) })
}

/// The record of the granule that holds `address`; null for addresses that are not ours.
#[inline]
pub fn record_at<T>(address: *const u8) -> *mut T {
    match leaf_of(address.addr()) {
        Some(leaf) => leaf.records[index_in_leaf(address.addr())]
            .load(Acquire)
            .cast(),
        None => null_mut(),
    }
}

/// Makes the map ready for entries of a range; false when memory for a leaf is lacking. Call it before [`set`].
pub fn cover(start: *const u8, len: usize) -> bool {
    let (first, last) = (
        start.addr() >> LEAF_SHIFT,
        (start.addr() + len - 1) >> LEAF_SHIFT,
    );
    (first..=last).all(cover_leaf)
}

fn cover_leaf(top: usize) -> bool {
    let Some(entry) = MAP.root.get(top) else {
        return false;
    };
    if entry.load(Acquire) != 0 {
        return true;
    }
    let Some(leaf) = os::map(size_of::<Leaf>()) else {
        return false;
    };
    let offset = leaf.as_ptr().expose_provenance().wrapping_sub(map_start());
    // No lock and no waiting: a thread that loses the race, or that forked away in the middle, harms nobody.
    if entry.compare_exchange(0, offset, AcqRel, Acquire).is_err() {
        // SAFETY: INV-OS-OWN: the leaf was mapped just above and was not published.
        unsafe { os::unmap(leaf.as_ptr(), size_of::<Leaf>()) };
    }
    true
}

/// Writes tag and record for `granules` granules from `start`, which [`cover`] must have prepared.
pub fn set<T>(start: *const u8, granules: usize, tag: u32, record: *mut T) {
    for i in 0..granules {
        set_one(start.addr() + i * GRANULE, tag, record.cast());
    }
}

fn set_one(address: usize, tag: u32, record: *mut u8) {
    let Some(leaf) = leaf_of(address) else {
        debug_assert!(false, "page map not covered at {address:#x}");
        return;
    };
    let index = index_in_leaf(address);
    leaf.records[index].store(record, Release);
    leaf.tags[index].store(tag, Release);
}

/// Changes the tag of the granule at `address` from `from` to `to`; false if it was not `from`. Of several callers
/// that race to free a block one succeeds.
pub fn claim(address: *const u8, from: u32, to: u32) -> bool {
    let Some(leaf) = leaf_of(address.addr()) else {
        return false;
    };
    leaf.tags[index_in_leaf(address.addr())]
        .compare_exchange(from, to, AcqRel, Relaxed)
        .is_ok()
}

/// Bytes of leaf memory that entries for `bytes` of blocks touch.
pub const fn bytes_for(bytes: usize) -> usize {
    bytes / GRANULE * (size_of::<AtomicU32>() + size_of::<AtomicPtr<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: usize) -> *const u8 {
        core::ptr::without_provenance(address)
    }

    #[test]
    fn foreign_and_wild_addresses_have_no_tag() {
        for address in [
            0,
            1,
            8,
            0xffff,
            1 << 32,
            0x7fff_ffff_ffff,
            1 << 47,
            1 << 63,
            usize::MAX,
        ] {
            assert_eq!(tag_at(at(address)), 0, "{address:#x}");
            assert!(record_at::<u8>(at(address)).is_null());
        }
        let local = 0u8;
        assert_eq!(tag_at(&local), 0);
    }

    #[test]
    fn entries_hold_exactly_their_granules() {
        // A range that crosses the border between two leaves.
        let start = (0x123 << LEAF_SHIFT) - 3 * GRANULE;
        assert!(cover(at(start), 6 * GRANULE));
        let record = at(0x1000).cast_mut();
        set(at(start), 6, 7 << 8 | 4, record);
        assert_eq!(tag_at(at(start - 1)), 0);
        assert_eq!(tag_at(at(start + 6 * GRANULE)), 0);
        for i in 0..6 {
            for inside in [0, 16, GRANULE - 1] {
                assert_eq!(tag_at(at(start + i * GRANULE + inside)), 7 << 8 | 4);
                assert_eq!(record_at::<u8>(at(start + i * GRANULE + inside)), record);
            }
        }
        set::<u8>(at(start), 6, 0, null_mut());
        assert_eq!(tag_at(at(start + GRANULE)), 0);
    }

    #[test]
    fn first_and_last_granule_of_user_space() {
        for start in [GRANULE, (1 << ADDRESS_BITS) - GRANULE] {
            assert!(cover(at(start), GRANULE));
            set(at(start), 1, 99 << 8, at(64).cast_mut());
            assert_eq!(tag_at(at(start + GRANULE - 1)), 99 << 8);
            set::<u8>(at(start), 1, 0, null_mut());
        }
        assert!(!cover(at(1 << ADDRESS_BITS), GRANULE));
    }

    #[test]
    fn one_of_many_claims_succeeds() {
        let start = 0x77 << LEAF_SHIFT;
        assert!(cover(at(start), GRANULE));
        set(at(start), 1, Kind::Huge as u32, at(64).cast_mut());
        let wins: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(move || claim(at(start), Kind::Huge as u32, 0) as usize))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(wins, 1);
    }
}
