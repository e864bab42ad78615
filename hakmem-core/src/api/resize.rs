//! realloc, and how long a block really is.

use super::{free, malloc, or_enomem};
use crate::base::size_class::{CLASS_MAX, CLASSES, class_of};
use crate::control::misuse::{self, Operation};
use crate::front::{self, Bad, Entry, enter};
use crate::segment::page_map::{self, Kind};
use crate::segment::{emergency, huge};
use crate::slab;
use core::ptr::{self, null_mut};

/// What a live block is.
#[derive(Clone, Copy)]
enum Block {
    Small { class: usize },
    Huge { len: usize },
    Emergency { len: usize },
}

impl Block {
    fn usable(self) -> usize {
        match self {
            Block::Small { class } => CLASSES[class].size as usize,
            Block::Huge { len } | Block::Emergency { len } => len,
        }
    }
}

/// Finds out what starts at `at`, which is not null.
#[inline]
fn look_up(at: *const u8) -> Result<Block, Bad> {
    let tag = page_map::tag_at(at);
    if slab::owner_of_tag(tag) != 0 {
        return Ok(Block::Small {
            class: slab::class_of_tag(tag),
        });
    }
    look_up_other(at, tag)
}

#[cold]
fn look_up_other(at: *const u8, tag: u32) -> Result<Block, Bad> {
    if tag == Kind::Emergency as u32 {
        // SAFETY: INV-RECORD: the tag says that the granule leads to such a block's header.
        let len = unsafe { emergency::usable_size(at) };
        return Ok(Block::Emergency { len });
    }
    match huge::bounds(at).filter(|_| tag == Kind::Huge as u32) {
        Some((base, len)) if base.cast_const() == at => Ok(Block::Huge { len }),
        _ => Err(front::what_else(at.cast_mut(), tag)),
    }
}

/// Whether `at` lies in a block of ours, live or not. Any address may be asked about; no memory there is touched.
pub fn owns(at: *const u8) -> bool {
    let tag = page_map::tag_at(at);
    tag != Kind::None as u32 && tag != Kind::Released as u32
}

/// The bytes that the caller may use of the block at `at`: at least what it asked for, and the same for as long as it
/// holds the block. 0 for null.
///
/// # Safety
/// `at` is null or a block that the caller holds. A pointer that shows to be neither is reported; the answer is then 0.
pub unsafe fn usable_size(at: *const u8) -> usize {
    if at.is_null() {
        return 0;
    }
    match look_up(at) {
        Ok(block) => block.usable(),
        Err(bad) => {
            misuse::report(Operation::UsableSize, at.cast_mut(), bad);
            0
        }
    }
}

/// Changes the size of a block, keeping its content up to the smaller of both sizes; the new block may be elsewhere.
/// Null allocates; a size of 0 frees and returns null (as glibc does). On failure null and ENOMEM, with the block
/// untouched; shrinking does not fail.
///
/// # Safety
/// `at` is null or a block that the caller holds; if the call succeeds the caller holds the returned one instead.
pub unsafe fn realloc(at: *mut u8, size: usize) -> *mut u8 {
    if at.is_null() {
        return malloc(size);
    }
    if size == 0 {
        // SAFETY: as the caller promises.
        unsafe { free(at) };
        return null_mut();
    }
    match look_up(at) {
        // SAFETY: as the caller promises, and the block is what it was found to be.
        Ok(block) => unsafe { resize(at, block, size) },
        Err(bad) => {
            misuse::report(Operation::Realloc, at, bad);
            or_enomem(null_mut())
        }
    }
}

/// # Safety
/// As for [`realloc`]; `block` describes what is at `at`.
unsafe fn resize(at: *mut u8, block: Block, size: usize) -> *mut u8 {
    let have = block.usable();
    let stays = match block {
        // A block stays while at most half of it would lie idle.
        Block::Small { class } => size <= have && (class_of(size) == class || size > have / 2),
        Block::Emergency { .. } => size <= have,
        Block::Huge { .. } if size > CLASS_MAX && size <= super::MAX_REQUEST => {
            // SAFETY: as the caller promises.
            match unsafe { resize_huge(at, size) } {
                Some(moved) => return moved,
                None => size <= have,
            }
        }
        Block::Huge { .. } => false,
    };
    if stays {
        return at;
    }
    let new = front::alloc::<false>(size);
    if new.is_null() {
        // Shrinking must not fail: the block that is there is large enough.
        return if size <= have { at } else { or_enomem(new) };
    }
    // SAFETY: INV-BLOCK: both blocks are the caller's, distinct, and at least this long.
    unsafe {
        ptr::copy_nonoverlapping(at, new, have.min(size));
        free(at);
    }
    new
}

/// # Safety
/// As for [`realloc`]; `at` is a huge block.
#[cold]
unsafe fn resize_huge(at: *mut u8, size: usize) -> Option<*mut u8> {
    let _entered = enter(Entry::Realloc);
    // SAFETY: as the caller promises. No lock is involved, so a signal handler may do this too.
    unsafe { huge::resize(at, size) }
}
