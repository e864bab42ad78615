//! malloc and its family, with the meaning that glibc documents.

use crate::Block;
use crate::bound::{Free, aside, bound, is_in_this_image, is_late};
use core::ffi::c_int;
use hakmem_core::api;

pub type Aligned = unsafe extern "C" fn(usize, usize) -> Block;
pub type Sized = unsafe extern "C" fn(usize) -> Block;
type PosixMemalign = unsafe extern "C" fn(*mut Block, usize, usize) -> c_int;
type Realloc = unsafe extern "C" fn(Block, usize) -> Block;
type UsableSize = unsafe extern "C" fn(Block) -> usize;

/// Every block has at least this alignment.
const MIN_ALIGN: usize = 16;

#[unsafe(no_mangle)]
pub extern "C" fn malloc(size: usize) -> Block {
    api::malloc(size).cast()
}

/// # Safety
/// `block` is null or a live block, as for all functions here that take one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: Block) {
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::free(block.cast()) }
}

#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, size: usize) -> Block {
    api::calloc(count, size).cast()
}

/// # Safety
/// See [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: Block, size: usize) -> Block {
    if let Some(next) = aside!(realloc: Realloc)
        && !block.is_null()
        && !api::owns(block.cast())
    {
        // SAFETY: INV-BOUND: not a block of ours, so the next allocator has to know it.
        return unsafe { next(block, size) };
    }
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::realloc(block.cast(), size).cast() }
}

/// Through the program's realloc, which need not be this one.
///
/// # Safety
/// See [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(block: Block, count: usize, size: usize) -> Block {
    let Some(bytes) = count.checked_mul(size) else {
        return out_of_memory();
    };
    let bound = bound!(realloc: Realloc);
    // SAFETY: INV-API: passed on from the caller.
    unsafe {
        if is_late() {
            realloc(block, bytes)
        } else {
            bound(block, bytes)
        }
    }
}

/// Through the program's free, which need not be this one.
///
/// # Safety
/// See [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfree(block: Block) {
    let bound = bound!(free: Free);
    // SAFETY: INV-API: passed on from the caller.
    unsafe { if is_late() { free(block) } else { bound(block) } }
}

/// # Safety
/// See [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(block: Block) -> usize {
    if let Some(next) = aside!(malloc_usable_size: UsableSize)
        && !api::owns(block.cast())
    {
        // SAFETY: INV-BOUND: not a block of ours, so the next allocator has to know it.
        return unsafe { next(block) };
    }
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::usable_size(block.cast()) }
}

/// An alignment that is no power of two is rounded up to one.
#[unsafe(no_mangle)]
pub extern "C" fn memalign(align: usize, size: usize) -> Block {
    if let Some(next) = aside!(memalign: Aligned) {
        // SAFETY: INV-BOUND: any arguments are valid.
        return unsafe { next(align, size) };
    }
    rounded_align(align, size)
}

/// An alignment that is no power of two is refused, as glibc does from 2.38 on; the size need not be a multiple of it.
#[unsafe(no_mangle)]
pub extern "C" fn aligned_alloc(align: usize, size: usize) -> Block {
    if let Some(next) = aside!(aligned_alloc: Aligned) {
        // SAFETY: INV-BOUND: any arguments are valid.
        return unsafe { next(align, size) };
    }
    if !align.is_power_of_two() {
        api::set_errno(api::EINVAL);
        return core::ptr::null_mut();
    }
    rounded_align(align, size)
}

/// # Safety
/// `block` points to a pointer, which is written only on success.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(block: *mut Block, align: usize, size: usize) -> c_int {
    if let Some(next) = aside!(posix_memalign: PosixMemalign) {
        // SAFETY: INV-BOUND: passed on from the caller.
        return unsafe { next(block, align, size) };
    }
    // SAFETY: INV-API: passed on from the caller.
    unsafe { store_aligned(block, align, size) }
}

#[unsafe(no_mangle)]
pub extern "C" fn valloc(size: usize) -> Block {
    if let Some(next) = aside!(valloc: Sized) {
        // SAFETY: INV-BOUND: any size is valid.
        return unsafe { next(size) };
    }
    page_aligned(size)
}

#[unsafe(no_mangle)]
pub extern "C" fn pvalloc(size: usize) -> Block {
    if let Some(next) = aside!(pvalloc: Sized) {
        // SAFETY: INV-BOUND: any size is valid.
        return unsafe { next(size) };
    }
    whole_pages(size)
}

/// C23.
///
/// # Safety
/// See [`free`]; `size` is what the block was asked for with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_sized(block: Block, size: usize) {
    let bound = bound!(free: Free);
    if !is_in_this_image(bound as usize) && !is_late() {
        // SAFETY: INV-BOUND: C23 defines free_sized as free.
        return unsafe { bound(block) };
    }
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::free_sized(block.cast(), size) }
}

/// C23.
///
/// # Safety
/// See [`free`]; `align` and `size` are what the block was asked for with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_aligned_sized(block: Block, align: usize, size: usize) {
    let bound = bound!(free: Free);
    if !is_in_this_image(bound as usize) && !is_late() {
        // SAFETY: INV-BOUND: C23 defines free_aligned_sized as free.
        return unsafe { bound(block) };
    }
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::free_aligned_sized(block.cast(), align, size) }
}

/// Null, with errno ENOMEM.
#[cold]
fn out_of_memory() -> Block {
    api::set_errno(api::ENOMEM);
    core::ptr::null_mut()
}

pub fn rounded_align(align: usize, size: usize) -> Block {
    if align <= MIN_ALIGN {
        return malloc(size);
    }
    match align.checked_next_power_of_two() {
        Some(align) => power_of_two(align, size),
        None => {
            api::set_errno(api::EINVAL);
            core::ptr::null_mut()
        }
    }
}

fn power_of_two(align: usize, size: usize) -> Block {
    let block = api::aligned_noerrno(align, size);
    if block.is_null() {
        out_of_memory()
    } else {
        block.cast()
    }
}

/// # Safety
/// See [`posix_memalign`].
pub unsafe fn store_aligned(block: *mut Block, align: usize, size: usize) -> c_int {
    if !align.is_power_of_two() || align < size_of::<Block>() {
        return api::EINVAL;
    }
    let found = api::aligned_noerrno(align, size);
    if found.is_null() {
        return api::ENOMEM;
    }
    // SAFETY: INV-API: the caller's pointer is valid for a write.
    unsafe { block.write(found.cast()) };
    0
}

pub fn page_aligned(size: usize) -> Block {
    power_of_two(page_size(), size)
}

pub fn whole_pages(size: usize) -> Block {
    match size.checked_next_multiple_of(page_size()) {
        Some(bytes) => power_of_two(page_size(), bytes),
        None => out_of_memory(),
    }
}

fn page_size() -> usize {
    // SAFETY: INV-LIBC: reads the auxiliary vector.
    let size = unsafe { libc::getauxval(libc::AT_PAGESZ) } as usize;
    if size.is_power_of_two() {
        size
    } else {
        hakmem_core::os::MIN_PAGE
    }
}
