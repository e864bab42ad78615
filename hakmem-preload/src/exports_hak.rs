//! hakmem's own API. The doc comments here become `include/hakmem.h`: `make header` after a change.

use crate::report;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;
use hakmem_core::{api, control, observe};

/// Allocates `size` bytes, whatever the program's `malloc` is bound to.
///
/// Alignment: 16. Size 0 gives a block of its own. Release with hak_free; free works as well where it is hakmem's.
/// Returns NULL with errno ENOMEM when there is no memory or `size` exceeds PTRDIFF_MAX.
/// Thread-safe, and safe in the child of a fork.
/// cbindgen:postfix=HAK_NOEXCEPT HAK_ALLOC_SIZE(1)
#[unsafe(no_mangle)]
pub extern "C" fn hak_malloc(size: usize) -> *mut c_void {
    api::malloc(size).cast()
}

/// Releases a block; NULL is fine. errno is kept. Thread-safe: any thread may release any block.
///
/// `block` is NULL or a live block of hakmem. Another address is reported as docs/MISUSE.md says.
/// cbindgen:postfix=HAK_NOEXCEPT
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hak_free(block: *mut c_void) {
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::free(block.cast()) }
}

/// Allocates `count` times `size` bytes, all zero. As hak_malloc otherwise; a product that overflows gives NULL with
/// errno ENOMEM.
/// cbindgen:postfix=HAK_NOEXCEPT HAK_ALLOC_SIZE(1, 2)
#[unsafe(no_mangle)]
pub extern "C" fn hak_calloc(count: usize, size: usize) -> *mut c_void {
    api::calloc(count, size).cast()
}

/// Makes a block `size` bytes long, in place or by moving it; its content up to the smaller of both sizes is kept.
///
/// NULL as block is hak_malloc. Size 0 releases the block and returns NULL. On failure NULL with errno ENOMEM, and the
/// block is as before. Alignment beyond 16 is not kept when the block moves.
///
/// The block is as for hak_free.
/// cbindgen:postfix=HAK_NOEXCEPT HAK_ALLOC_SIZE(2)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hak_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::realloc(block.cast(), size).cast() }
}

/// Allocates `size` bytes at a multiple of `alignment`, which is a power of two; the size need not be a multiple of it.
///
/// Returns NULL with errno EINVAL for another alignment, and with ENOMEM when there is no memory. Release with hak_free.
/// cbindgen:postfix=HAK_NOEXCEPT HAK_ALLOC_ALIGNED(1, 2)
#[unsafe(no_mangle)]
pub extern "C" fn hak_aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    if !alignment.is_power_of_two() {
        return refuse(api::EINVAL);
    }
    let block = api::aligned_noerrno(alignment, size);
    if block.is_null() {
        refuse(api::ENOMEM)
    } else {
        block.cast()
    }
}

/// Bytes that may be used in a block: at least the size it was asked for with, and the same for as long as it lives.
/// 0 for NULL.
///
/// The block is as for hak_free.
/// cbindgen:postfix=HAK_NOEXCEPT
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hak_usable_size(block: *const c_void) -> usize {
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::usable_size(block.cast()) }
}

/// hak_malloc for small blocks only: more than HAK_TINY_MAX bytes give NULL with errno EINVAL.
/// cbindgen:postfix=HAK_NOEXCEPT HAK_ALLOC_SIZE(1)
#[unsafe(no_mangle)]
pub extern "C" fn hak_tiny_alloc(size: usize) -> *mut c_void {
    if size > api::TINY_MAX {
        return refuse(api::EINVAL);
    }
    api::malloc(size).cast()
}

/// hak_tiny_alloc past the thread's cache: the block comes from its slab. For tests and measurements.
/// cbindgen:postfix=HAK_NOEXCEPT HAK_ALLOC_SIZE(1)
#[unsafe(no_mangle)]
pub extern "C" fn hak_tiny_alloc_superslab(size: usize) -> *mut c_void {
    if size > api::TINY_MAX {
        return refuse(api::EINVAL);
    }
    let block = api::take_from_slab(size);
    if block.is_null() {
        refuse(api::ENOMEM)
    } else {
        block.cast()
    }
}

/// The version of the library, "MAJOR.MINOR.PATCH". The string lives as long as the process.
/// cbindgen:postfix=HAK_NOEXCEPT
#[unsafe(no_mangle)]
pub extern "C" fn hak_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Statistics of the process. All sizes in bytes. Later versions add fields at the end.
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct hak_stats {
    /// Set to sizeof(struct hak_stats) before the call; says afterwards how many bytes of the structure were filled.
    pub size: usize,
    /// Mapped from the system.
    pub mapped: usize,
    /// In blocks that the program holds, rounded up to block sizes; without those that have a mapping of their own.
    pub live: usize,
    /// In the caches of the threads.
    pub cached: usize,
    /// Free inside slabs.
    pub free_in_slabs: usize,
    /// In free spans and mappings that are kept resident for reuse.
    pub retained: usize,
    /// In hakmem's own records.
    pub metadata: usize,
    /// In blocks that have a mapping of their own.
    pub huge_live: usize,
    /// Number of blocks that have a mapping of their own.
    pub huge_count: usize,
    /// Number of heaps ever made: the most threads at once.
    pub heaps: usize,
    /// Number of slabs.
    pub slabs: usize,
    /// System calls that map memory.
    pub os_map: u64,
    /// System calls that unmap memory.
    pub os_unmap: u64,
    /// System calls that give pages back.
    pub os_purge: u64,
    /// Those of them that the system refused.
    pub os_purge_failed: u64,
    /// System calls that grow or move a mapping.
    pub os_remap: u64,
    /// System calls that ask for huge pages.
    pub os_advise: u64,
    /// Calls that a thread's cache couldn't answer, by entry point: malloc and operator new.
    pub cold_malloc: u64,
    /// free and operator delete.
    pub cold_free: u64,
    /// calloc.
    pub cold_calloc: u64,
    /// realloc.
    pub cold_realloc: u64,
    /// aligned_alloc and the like.
    pub cold_aligned: u64,
}

/// Fills `*stats` as far as its field `size` allows. Returns 0, or -1 with errno EINVAL when `stats` is NULL or that
/// size can't be right. Thread-safe; the figures of busy threads may be a moment apart. Don't call it from a signal
/// handler.
///
/// `stats` points to as many bytes as its field `size` says.
/// cbindgen:postfix=HAK_NOEXCEPT
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hak_stats_get(stats: *mut hak_stats) -> c_int {
    let mut room = 0;
    if !stats.is_null() {
        // SAFETY: INV-API: the caller's structure has at least this field.
        room = unsafe { (*stats).size };
    }
    if room < size_of::<usize>() {
        api::set_errno(api::EINVAL);
        return -1;
    }
    let s = observe::snapshot();
    let mut filled = hak_stats {
        size: room.min(size_of::<hak_stats>()),
        mapped: s.mapped,
        live: s.live,
        cached: s.cached,
        free_in_slabs: s.free_in_slabs,
        retained: s.retained,
        metadata: s.metadata,
        huge_live: s.huge_live,
        huge_count: s.huge_count,
        heaps: s.heaps,
        slabs: s.slabs,
        os_map: s.os.map,
        os_unmap: s.os.unmap,
        os_purge: s.os.purge,
        os_purge_failed: s.os.purge_failed,
        os_remap: s.os.remap,
        os_advise: s.os.advise,
        cold_malloc: s.cold.malloc,
        cold_free: s.cold.free,
        cold_calloc: s.cold.calloc,
        cold_realloc: s.cold.realloc,
        cold_aligned: s.cold.aligned,
    };
    // Whole fields only: all are 8 bytes.
    filled.size &= !7;
    // SAFETY: INV-API: at most the caller's size, and at most the structure.
    unsafe {
        core::ptr::copy_nonoverlapping(
            (&raw const filled).cast::<u8>(),
            stats.cast::<u8>(),
            filled.size,
        )
    };
    0
}

/// Writes the statistics as a table to a file descriptor. Returns 0, or -1 when the descriptor refuses; errno is kept.
/// cbindgen:postfix=HAK_NOEXCEPT
#[unsafe(no_mangle)]
pub extern "C" fn hak_stats_print(fd: c_int) -> c_int {
    if report::to_descriptor(fd) { 0 } else { -1 }
}

/// Gives all free memory back to the system at once. Returns 1 if any went back, else 0. Thread-safe.
/// cbindgen:postfix=HAK_NOEXCEPT
#[unsafe(no_mangle)]
pub extern "C" fn hak_trim() -> c_int {
    c_int::from(api::trim(0))
}

/// Walks all of hakmem's records and checks that they agree. Returns 0, or -1 after a message on standard error that
/// says what is wrong: something has overwritten memory that isn't its own. errno is kept. Other threads may run
/// meanwhile; the locks are taken one at a time.
/// cbindgen:postfix=HAK_NOEXCEPT
#[unsafe(no_mangle)]
pub extern "C" fn hak_check() -> c_int {
    match observe::check() {
        Ok(()) => 0,
        Err(fault) => {
            control::message(&["hakmem: inconsistent records: ", fault, "\n"]);
            -1
        }
    }
}

/// Largest size that hak_tiny_alloc serves, in bytes.
pub const HAK_TINY_MAX: usize = 1024;
const _: () = assert!(HAK_TINY_MAX == api::TINY_MAX);

#[cold]
fn refuse(code: c_int) -> *mut c_void {
    api::set_errno(code);
    null_mut()
}
