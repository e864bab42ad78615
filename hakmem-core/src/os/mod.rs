//! The contract with the operating system: every system call, and everything that depends on the CPU or the C library.
//!
//! No function here touches `errno`, takes a lock, allocates or calls into the C library: a preloaded wrapper around
//! `mmap` or `madvise` that allocates can therefore never re-enter us (the calls are raw). Lengths are bytes and
//! multiples of the page size; memory handed out by [`map`] is zero, private, readable and writable.
//!
//! Another architecture is another `linux_ARCH.rs`. With the `fault` feature each fallible call first asks
//! [`fault`], so that a test can make the n-th one fail.

#[cfg_attr(target_arch = "x86_64", path = "linux_x86_64.rs")]
mod arch;
pub mod counts;
#[cfg(feature = "fault")]
pub mod fault;
pub mod thread_exit;

use arch::{nr, syscall};
pub use arch::{opaque, opaque_word, thread_pointer, thread_slot_read, thread_slot_write};
use core::ptr::NonNull;
use core::sync::atomic::AtomicUsize;
use counts::{COUNTS, Counts};

/// The smallest unit that any supported kernel maps; larger kernel pages divide the granule too.
pub const MIN_PAGE: usize = 4096;

const PROT_NONE: usize = 0;
const PROT_READ_WRITE: usize = 1 | 2;
const MAP_PRIVATE_ANON: usize = 0x02 | 0x20;
const MREMAP_MAYMOVE: usize = 1;
const MREMAP_FIXED: usize = 2;
const MADV_DONTNEED: usize = 4;
const MADV_HUGEPAGE: usize = 14;
const FUTEX_WAIT_PRIVATE: usize = 128;
const FUTEX_WAKE_PRIVATE: usize = 129;

// A futex is 32 bits wide; the lower half of a word is found at the word's address.
const _: () = assert!(cfg!(target_endian = "little"));

/// Kernel answers from -4095 to -1 are error numbers.
fn failed(answer: usize) -> bool {
    answer > -4096isize as usize
}

#[cfg_attr(feature = "fault", track_caller)]
#[inline]
fn refuse(call: Call, len: usize) -> bool {
    #[cfg(feature = "fault")]
    return fault::refuse(call, len);
    #[cfg(not(feature = "fault"))]
    {
        let _ = (call, len);
        false
    }
}

/// The calls that can fail and that a test can make fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Map,
    Unmap,
    Purge,
    Remap,
    Advise,
}

#[cfg(feature = "fault")]
impl Call {
    pub const ALL: [Call; 5] = [
        Call::Map,
        Call::Unmap,
        Call::Purge,
        Call::Remap,
        Call::Advise,
    ];
}

/// The kernel orders the unmapping of memory before a later mapping of it. ThreadSanitizer does not see our calls, so it
/// is told here.
#[inline]
fn ordered_by_kernel() {
    #[cfg(tsan)]
    {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        CALLS.fetch_add(1, core::sync::atomic::Ordering::AcqRel);
    }
}

#[cfg_attr(feature = "fault", track_caller)]
fn mmap(len: usize, protection: usize) -> Option<NonNull<u8>> {
    if refuse(Call::Map, len) {
        return None;
    }
    Counts::add(&COUNTS.map, 1);
    // SAFETY: INV-OS-RAW: a new anonymous mapping without MAP_FIXED never replaces one that exists.
    let answer = unsafe {
        syscall(
            nr::MMAP,
            [0, len, protection, MAP_PRIVATE_ANON, usize::MAX, 0],
        )
    };
    if failed(answer) {
        return None;
    }
    ordered_by_kernel();
    Counts::add(&COUNTS.mapped_bytes, len as u64);
    NonNull::new(answer as *mut u8)
}

/// Maps `len` fresh zero bytes, aligned to the page.
#[cfg_attr(feature = "fault", track_caller)]
pub fn map(len: usize) -> Option<NonNull<u8>> {
    mmap(len, PROT_READ_WRITE)
}

/// Maps `len` fresh zero bytes at a multiple of `align`, a power of two of at least a page.
#[cfg_attr(feature = "fault", track_caller)]
pub fn map_aligned(len: usize, align: usize) -> Option<NonNull<u8>> {
    map_aligned_as(len, align, PROT_READ_WRITE)
}

#[cfg_attr(feature = "fault", track_caller)]
fn map_aligned_as(len: usize, align: usize, protection: usize) -> Option<NonNull<u8>> {
    // The kernel places mappings next to each other, so the plain call is aligned more often than not.
    let first = mmap(len, protection)?;
    if first.addr().get() & (align - 1) == 0 {
        return Some(first);
    }
    // SAFETY: INV-OS-OWN: the mapping was made just above and nobody else knows of it.
    unsafe { unmap(first.as_ptr(), len) };
    let slack = align - MIN_PAGE;
    let wide = mmap(len.checked_add(slack)?, protection)?;
    let skip = wide.addr().get().wrapping_neg() & (align - 1);
    // SAFETY: INV-OS-OWN: head and tail lie inside the mapping made just above, outside the part that is returned.
    unsafe {
        if skip > 0 {
            unmap(wide.as_ptr(), skip);
        }
        if slack > skip {
            unmap(wide.as_ptr().add(skip + len), slack - skip);
        }
        Some(wide.add(skip))
    }
}

/// Gives a mapping, or whole pages of one, back. `false` when the kernel refuses (it may run out of map entries):
/// the memory is then still mapped.
///
/// # Safety
/// The range is ours and nobody uses it any more.
#[cfg_attr(feature = "fault", track_caller)]
pub unsafe fn unmap(at: *mut u8, len: usize) -> bool {
    if refuse(Call::Unmap, len) {
        return false;
    }
    Counts::add(&COUNTS.unmap, 1);
    ordered_by_kernel();
    // SAFETY: INV-OS-OWN: the caller owns the range.
    let ok = !failed(unsafe { syscall(nr::MUNMAP, [at as usize, len, 0, 0, 0, 0]) });
    if ok {
        Counts::sub(&COUNTS.mapped_bytes, len as u64);
    }
    ok
}

/// Takes the pages of a range out of memory; they read as zero when `true` is returned. `false` (locked memory, a
/// system call filter) means that nothing can be said about the content.
///
/// # Safety
/// The range is ours and its content is no longer needed.
#[cfg_attr(feature = "fault", track_caller)]
pub unsafe fn purge(at: *mut u8, len: usize) -> bool {
    if refuse(Call::Purge, len) {
        Counts::add(&COUNTS.purge_failed, 1);
        return false;
    }
    Counts::add(&COUNTS.purge, 1);
    // SAFETY: INV-OS-OWN: the caller gives the content up.
    let ok = !failed(unsafe { syscall(nr::MADVISE, [at as usize, len, MADV_DONTNEED, 0, 0, 0]) });
    if !ok {
        Counts::add(&COUNTS.purge_failed, 1);
    }
    ok
}

/// Asks for huge pages in a range; a refusal is harmless.
///
/// # Safety
/// The range is ours.
#[cfg_attr(feature = "fault", track_caller)]
pub unsafe fn advise_huge(at: *mut u8, len: usize) -> bool {
    if refuse(Call::Advise, len) {
        return false;
    }
    Counts::add(&COUNTS.advise, 1);
    // SAFETY: INV-OS-OWN: advice changes no content.
    !failed(unsafe { syscall(nr::MADVISE, [at as usize, len, MADV_HUGEPAGE, 0, 0, 0]) })
}

/// Grows or shrinks a mapping where it is.
///
/// # Safety
/// The range is a whole mapping of ours; when it shrinks, its tail is no longer used.
#[cfg_attr(feature = "fault", track_caller)]
pub unsafe fn remap_in_place(at: *mut u8, old_len: usize, new_len: usize) -> bool {
    if refuse(Call::Remap, new_len) {
        return false;
    }
    Counts::add(&COUNTS.remap, 1);
    // SAFETY: INV-OS-OWN: the caller owns the range; without MAYMOVE the kernel extends it only into free space.
    let answer = unsafe { syscall(nr::MREMAP, [at as usize, old_len, new_len, 0, 0, 0]) };
    if failed(answer) {
        return false;
    }
    Counts::add(&COUNTS.mapped_bytes, new_len as u64);
    Counts::sub(&COUNTS.mapped_bytes, old_len as u64);
    true
}

/// Reserves address space without memory, as a target for [`remap_to`].
#[cfg_attr(feature = "fault", track_caller)]
pub fn reserve(len: usize, align: usize) -> Option<NonNull<u8>> {
    map_aligned_as(len, align, PROT_NONE)
}

/// Moves the pages of a mapping to `target`, a reservation of `new_len` bytes, without copying them. On `false` both
/// are as they were. (A plain MREMAP_MAYMOVE would choose an address without our alignment.)
///
/// # Safety
/// `at` is a whole mapping of ours that nobody else uses while it moves; `target` is from [`reserve`].
#[cfg_attr(feature = "fault", track_caller)]
pub unsafe fn remap_to(at: *mut u8, len: usize, target: *mut u8, new_len: usize) -> bool {
    if refuse(Call::Remap, new_len) {
        return false;
    }
    Counts::add(&COUNTS.remap, 1);
    ordered_by_kernel();
    let flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    let args = [at as usize, len, new_len, flags, target as usize, 0];
    // SAFETY: INV-OS-OWN: source and target are ours; MREMAP_FIXED replaces only the reservation.
    let ok = !failed(unsafe { syscall(nr::MREMAP, args) });
    if ok {
        Counts::sub(&COUNTS.mapped_bytes, len as u64);
    }
    ok
}

/// Sleeps while the lower half of `word` is that of `value`; may wake for no reason.
pub fn futex_wait(word: &AtomicUsize, value: usize) {
    let args = [
        word.as_ptr() as usize,
        FUTEX_WAIT_PRIVATE,
        value as u32 as usize,
        0,
        0,
        0,
    ];
    // SAFETY: INV-OS-RAW: the kernel only reads the word.
    unsafe { syscall(nr::FUTEX, args) };
}

/// Wakes one sleeper of `word`.
pub fn futex_wake_one(word: &AtomicUsize) {
    // SAFETY: INV-OS-RAW: the kernel does not touch the memory.
    unsafe {
        syscall(
            nr::FUTEX,
            [word.as_ptr() as usize, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0],
        )
    };
}

/// Writes all of `bytes` to a file descriptor; `false` when that fails.
pub fn write(fd: i32, mut bytes: &[u8]) -> bool {
    const EINTR: usize = -4isize as usize;
    while !bytes.is_empty() {
        let args = [fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0];
        // SAFETY: INV-OS-RAW: the kernel reads the slice.
        let answer = unsafe { syscall(nr::WRITE, args) };
        if answer == EINTR {
            continue;
        }
        if failed(answer) || answer == 0 {
            return false;
        }
        bytes = &bytes[answer..];
    }
    true
}

/// Opens a file for appending, creating it with mode 0644; the descriptor is closed on exec.
pub fn open_append(path: &core::ffi::CStr) -> Option<i32> {
    const AT_FDCWD: usize = -100isize as usize;
    const WRONLY_CREAT_APPEND_CLOEXEC: usize = 0o1 | 0o100 | 0o2000 | 0o2000000;
    let args = [
        AT_FDCWD,
        path.as_ptr() as usize,
        WRONLY_CREAT_APPEND_CLOEXEC,
        0o644,
        0,
        0,
    ];
    // SAFETY: INV-OS-RAW: the kernel reads the path.
    let answer = unsafe { syscall(nr::OPENAT, args) };
    (!failed(answer)).then_some(answer as i32)
}

/// Closes a descriptor from [`open_append`].
pub fn close(fd: i32) {
    // SAFETY: INV-OS-RAW: no memory is involved.
    unsafe { syscall(nr::CLOSE, [fd as usize, 0, 0, 0, 0, 0]) };
}

/// The target of a symbolic link, as much of it as fits into `buffer`.
pub fn read_link<'a>(path: &core::ffi::CStr, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let args = [
        path.as_ptr() as usize,
        buffer.as_mut_ptr() as usize,
        buffer.len(),
        0,
        0,
        0,
    ];
    // SAFETY: INV-OS-RAW: the kernel reads the path and writes at most the buffer's length.
    let answer = unsafe { syscall(nr::READLINK, args) };
    if failed(answer) {
        None
    } else {
        Some(&buffer[..answer])
    }
}

pub fn process_id() -> i32 {
    // SAFETY: INV-OS-RAW: no memory is involved.
    unsafe { syscall(nr::GETPID, [0; 6]) as i32 }
}

pub fn parent_process_id() -> i32 {
    // SAFETY: INV-OS-RAW: no memory is involved.
    unsafe { syscall(nr::GETPPID, [0; 6]) as i32 }
}

/// Sets the calling thread's errno.
#[cold]
#[inline(never)]
pub fn set_errno(code: i32) {
    // SAFETY: INV-OS-RAW: the location is valid for the calling thread.
    unsafe { *libc::__errno_location() = code };
}

/// Ends the process with SIGABRT, also when the program blocks or handles that signal.
pub fn abort() -> ! {
    // SAFETY: INV-OS-RAW: abort takes nothing; it is the one libc call here because core dumps and debuggers expect it.
    unsafe { libc::abort() }
}
