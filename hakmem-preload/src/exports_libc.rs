//! glibc's underscored spellings. Programs that wrap malloc call them; libraries built for old versions do too.

use crate::Block;
use crate::bound::aside;
use crate::exports_c::{
    Aligned, Sized, calloc, free, malloc, page_aligned, realloc, rounded_align, store_aligned,
    whole_pages,
};
use core::ffi::c_int;
use hakmem_core::api;

type Calloc = unsafe extern "C" fn(usize, usize) -> Block;
type Realloc = unsafe extern "C" fn(Block, usize) -> Block;
type PosixMemalign = unsafe extern "C" fn(*mut Block, usize, usize) -> c_int;

#[unsafe(no_mangle)]
pub extern "C" fn __libc_malloc(size: usize) -> Block {
    match aside!(__libc_malloc: Sized) {
        // SAFETY: INV-BOUND: any size is valid.
        Some(next) => unsafe { next(size) },
        None => malloc(size),
    }
}

/// # Safety
/// See [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __libc_free(block: Block) {
    type Free = unsafe extern "C" fn(Block);
    match aside!(__libc_free: Free) {
        // SAFETY: INV-BOUND: not a block of ours, so the next allocator has to know it.
        Some(next) if !api::owns(block.cast()) => unsafe { next(block) },
        // SAFETY: INV-API: passed on from the caller.
        _ => unsafe { free(block) },
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __libc_calloc(count: usize, size: usize) -> Block {
    match aside!(__libc_calloc: Calloc) {
        // SAFETY: INV-BOUND: any arguments are valid.
        Some(next) => unsafe { next(count, size) },
        None => calloc(count, size),
    }
}

/// # Safety
/// See [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __libc_realloc(block: Block, size: usize) -> Block {
    match aside!(__libc_realloc: Realloc) {
        // SAFETY: INV-BOUND: null or not a block of ours, so it is for the next allocator.
        Some(next) if !api::owns(block.cast()) => unsafe { next(block, size) },
        // SAFETY: INV-API: passed on from the caller.
        _ => unsafe { realloc(block, size) },
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __libc_memalign(align: usize, size: usize) -> Block {
    match aside!(memalign: Aligned) {
        // SAFETY: INV-BOUND: any arguments are valid.
        Some(next) => unsafe { next(align, size) },
        None => rounded_align(align, size),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __libc_valloc(size: usize) -> Block {
    match aside!(valloc: Sized) {
        // SAFETY: INV-BOUND: any size is valid.
        Some(next) => unsafe { next(size) },
        None => page_aligned(size),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __libc_pvalloc(size: usize) -> Block {
    match aside!(pvalloc: Sized) {
        // SAFETY: INV-BOUND: any size is valid.
        Some(next) => unsafe { next(size) },
        None => whole_pages(size),
    }
}

/// # Safety
/// See [`crate::exports_c::posix_memalign`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __posix_memalign(block: *mut Block, align: usize, size: usize) -> c_int {
    match aside!(posix_memalign: PosixMemalign) {
        // SAFETY: INV-BOUND: passed on from the caller.
        Some(next) => unsafe { next(block, align, size) },
        // SAFETY: INV-API: passed on from the caller.
        None => unsafe { store_aligned(block, align, size) },
    }
}
