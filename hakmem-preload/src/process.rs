//! Facts about this process, read without allocation and without the C library's wrappers, which another preloaded
//! library may have replaced.

use core::ffi::{CStr, c_char, c_long};
use hakmem_core::observe::format::status_field;
use hakmem_core::os;

/// The system call's answer; errno belongs to the program and is kept.
fn call(number: c_long, a: usize, b: usize, c: usize) -> Option<usize> {
    // SAFETY: INV-LIBC: errno is a thread's own.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: INV-LIBC: the callers below pass buffers of the length they say.
    unsafe {
        let saved = *errno;
        let answer = libc::syscall(number, a, b, c);
        *errno = saved;
        usize::try_from(answer).ok()
    }
}

/// The environment, as `NAME=VALUE` strings.
pub fn environment() -> impl Iterator<Item = &'static CStr> {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: INV-LIBC: at start no other thread changes the environment.
    let mut at = unsafe { environ };
    core::iter::from_fn(move || {
        if at.is_null() {
            return None;
        }
        // SAFETY: INV-LIBC: an array of C strings that ends with a null pointer.
        unsafe {
            let string = *at;
            at = at.add(1);
            (!string.is_null()).then(|| CStr::from_ptr(string))
        }
    })
}

/// Whether the process runs with rights that its caller doesn't have.
pub fn is_secure() -> bool {
    // SAFETY: INV-LIBC: reads the auxiliary vector.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The working directory, without a zero byte.
pub fn working_directory(space: &mut [u8]) -> Option<&[u8]> {
    let len = call(libc::SYS_getcwd, space.as_mut_ptr().addr(), space.len(), 0)?;
    Some(&space[..len.saturating_sub(1)])
}

/// The executable's file name.
pub fn executable(space: &mut [u8]) -> &[u8] {
    if let Some(len) = os::read_link(c"/proc/self/exe", space).map(<[u8]>::len) {
        return &space[..len];
    }
    // SAFETY: INV-LIBC: the kernel puts the name that was executed there, a C string that lives as long as the process.
    unsafe {
        let name = libc::getauxval(libc::AT_EXECFN) as *const c_char;
        if name.is_null() {
            b""
        } else {
            CStr::from_ptr(name).to_bytes()
        }
    }
}

/// Whether the executable, and not a library, begins at `base`.
pub fn is_executable_at(base: usize) -> bool {
    // SAFETY: INV-LIBC: reads the auxiliary vector.
    let headers = unsafe { libc::getauxval(libc::AT_PHDR) } as usize;
    // The program headers follow the file header, in the first page.
    headers.wrapping_sub(base) < os::MIN_PAGE
}

pub struct Usage {
    pub peak_rss_kib: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
}

pub fn usage() -> Usage {
    // SAFETY: INV-LIBC: a structure of integers.
    let mut raw: libc::rusage = unsafe { core::mem::zeroed() };
    call(
        libc::SYS_getrusage,
        libc::RUSAGE_SELF as usize,
        (&raw mut raw).addr(),
        0,
    );
    // The kernel's figure survives exec: a small program that a large one started would show the large one's peak.
    let peak = peak_of_this_image().unwrap_or(raw.ru_maxrss as u64);
    Usage {
        peak_rss_kib: peak,
        minor_faults: raw.ru_minflt as u64,
        major_faults: raw.ru_majflt as u64,
    }
}

/// The field VmHWM of /proc/self/status, in KiB.
fn peak_of_this_image() -> Option<u64> {
    const AT_FDCWD: usize = libc::AT_FDCWD as usize;
    let path = c"/proc/self/status";
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    let fd = call(
        libc::SYS_openat,
        AT_FDCWD,
        path.as_ptr().addr(),
        flags as usize,
    )?;
    let mut space = [0u8; 4096];
    let len = call(libc::SYS_read, fd, space.as_mut_ptr().addr(), space.len());
    os::close(fd as i32);
    status_field(space.get(..len?)?, b"VmHWM:")
}
