//! The hot path of free, and where else a block can belong.

use super::enter::{Entry, enter};
use super::{bin_at, current, spill};
use crate::base::size_class::GRANULE;
use crate::control::misuse;
use crate::heap::{self, Fault};
use crate::segment::page_map::{self, Kind};
use crate::segment::{emergency, huge};
use crate::slab::{self, Slab, remote};

/// Why a pointer could not be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// Not an address of ours.
    Foreign,
    /// In a part of a segment that no block uses.
    Unused,
    /// Inside a block (start and length) or behind the last one.
    Inside(*mut u8, usize),
    /// The block (of this length) is free already.
    Twice(usize),
}

/// What a free found wrong, if anything: with the pointer it is about, which may be one freed earlier.
pub type Freed = Result<(), (*mut u8, Bad)>;

/// Frees `block`. Null is allowed.
///
/// # Safety
/// The caller gives up a block that it holds. Anything else is reported as far as the cold paths see it.
#[inline(always)]
pub unsafe fn free(block: *mut u8) {
    let front = current();
    // SAFETY: INV-FRONT: the slot holds a valid front. If the tag's owner is this thread, the block is one of its own
    // and its class has a bin; the block is free, so its first word may be written.
    unsafe {
        if let Some(tag) = page_map::probe(block) {
            let twice_class = tag as u64 ^ (*front).tag;
            if twice_class <= 0xff {
                let bin = bin_at(front, twice_class as usize);
                // Written before it is looked at: one instruction. Whoever finds the bin full puts it right.
                (*bin).room -= 1;
                if (*bin).room >= 0 {
                    *block.cast::<*mut u8>() = (*bin).head;
                    (*bin).head = block;
                    return;
                }
            }
        }
        free_further(block)
    }
}

/// # Safety
/// As for [`free`].
#[inline(never)]
unsafe fn free_further(block: *mut u8) {
    // SAFETY: as the caller promises.
    if let Err((at, bad)) = unsafe { free_elsewhere(block) } {
        misuse::report(misuse::Operation::Free, at, bad);
    }
}

/// # Safety
/// As for [`free`].
#[inline]
unsafe fn free_elsewhere(block: *mut u8) -> Freed {
    let tag = page_map::tag_at(block);
    // SAFETY: INV-FRONT: the slot holds a valid front.
    let mine = unsafe { tag as u64 ^ (*current()).tag <= 0xff };
    if mine {
        // SAFETY: INV-FRONT: as the caller promises, with a tag that says that the block is this thread's.
        return unsafe { spill::free_full(block, slab::class_of_tag(tag)) };
    }
    if slab::owner_of_tag(tag) != 0 {
        return free_remote(block);
    }
    free_other(block, tag)
}

/// Frees a block that another thread's heap owns.
pub(super) fn free_remote(block: *mut u8) -> Freed {
    let record = slab::slab_of(block);
    // SAFETY: INV-RECORD: slab records are never unmapped.
    let Some(slab) = (unsafe { record.as_ref() }) else {
        return Err((block, Bad::Unused));
    };
    let Some(index) = slab.index_of(block) else {
        return Err((block, inside(slab, block)));
    };
    match slab.free_remotely(index) {
        remote::Freed::Recorded => Ok(()),
        remote::Freed::Twice => Err((block, Bad::Twice(slab.class().size as usize))),
        remote::Freed::Announce => {
            // SAFETY: INV-RECORD: setting the slab's first bit gave this thread the duty to announce it.
            match unsafe { slab::announce(record) } {
                Some(owner) => help(owner),
                None => Ok(()),
            }
        }
    }
}

#[cold]
fn help(owner: &'static slab::Owner) -> Freed {
    // An interrupted cold path may hold the locks that helping needs; the owner is helped another time then.
    let Some(entered) = enter(Entry::Free) else {
        return Ok(());
    };
    let fault = heap::help(owner);
    drop(entered);
    result_of(fault)
}

/// The error that a fault found in a heap amounts to.
pub(crate) fn result_of(fault: Option<Fault>) -> Freed {
    match fault {
        None => Ok(()),
        Some(Fault { at, block, size }) if at == block => Err((at, Bad::Twice(size))),
        Some(Fault { at, block, size }) => Err((at, Bad::Inside(block, size))),
    }
}

fn inside(slab: &Slab, at: *mut u8) -> Bad {
    Bad::Inside(slab.block_around(at), slab.class().size as usize)
}

const HUGE: u32 = Kind::Huge as u32;
const HUGE_INSIDE: u32 = Kind::HugeInside as u32;
const EMERGENCY: u32 = Kind::Emergency as u32;
const FREE_SPAN: u32 = Kind::FreeSpan as u32;
const RELEASED: u32 = Kind::Released as u32;
const HUGE_KEPT: u32 = Kind::HugeKept as u32;

#[cold]
fn free_other(block: *mut u8, tag: u32) -> Freed {
    if block.is_null() {
        return Ok(());
    }
    match tag {
        HUGE => {
            let entered = enter(Entry::Free);
            let freed = huge::free(block, entered.is_none());
            drop(entered);
            match freed {
                true => Ok(()),
                false => Err((block, what_else(block, page_map::tag_at(block)))),
            }
        }
        EMERGENCY if emergency::free(block) => Ok(()),
        _ => Err((block, what_else(block, tag))),
    }
}

/// What a pointer is that leads to no block, by its tag.
pub(crate) fn what_else(at: *mut u8, tag: u32) -> Bad {
    match tag {
        HUGE | HUGE_INSIDE => match huge::bounds(at) {
            Some((base, len)) if base == at => Bad::Twice(len),
            Some((base, len)) => Bad::Inside(base, len),
            None => Bad::Unused,
        },
        HUGE_KEPT => huge::bounds(at).map_or(Bad::Unused, |(base, len)| match base == at {
            true => Bad::Twice(len),
            false => Bad::Unused,
        }),
        RELEASED if at.addr().is_multiple_of(GRANULE) => Bad::Twice(huge::released(at)),
        EMERGENCY | FREE_SPAN => Bad::Unused,
        _ => Bad::Foreign,
    }
}
