//! The record at exit: one line of JSON that shows whether hakmem served the process.
//!
//! What calls of malloc reach is read from what the dynamic linker decided, and whether the C library's own heap stayed
//! empty is asked of the C library, so that the record proves something about the process and not only about us.

use crate::bound::{bound_if_any, callee, loaded_library, symbol};
use crate::{VERSION, process};
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_void};
use core::fmt::{self, Write as _};
use core::mem::{MaybeUninit, transmute};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use hakmem_core::observe::{self, format::Fixed, format::Json};
use hakmem_core::{control, os};

/// Memory that only the start, which is one thread, and the winner of [`WRITTEN`] touch.
struct Exclusive<const N: usize>(UnsafeCell<[u8; N]>);
// SAFETY: INV-PROOF: see the type.
unsafe impl<const N: usize> Sync for Exclusive<N> {}

/// The file's absolute name, which ends with a zero byte; empty when no record was asked for. A copy, because programs
/// overwrite their environment and change their directory.
static FILE: Exclusive<{ libc::PATH_MAX as usize }> =
    Exclusive(UnsafeCell::new([0; libc::PATH_MAX as usize]));
/// The record, which must leave in one write so that those of several processes don't mix.
static RECORD: Exclusive<{ 32 * 1024 }> = Exclusive(UnsafeCell::new([0; 32 * 1024]));
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// Takes note of the file that the record goes to.
pub fn remember(name: &[u8]) {
    // SAFETY: INV-PROOF: called once, at start.
    let space = unsafe { &mut *FILE.0.get() };
    let mut at = 0;
    if !name.starts_with(b"/") {
        at = process::working_directory(space).map_or(0, <[u8]>::len);
        // No directory: the name stays relative to the one at exit.
        if let Some(slash) = space.get_mut(at).filter(|_| at > 0) {
            *slash = b'/';
            at += 1;
        }
    }
    match space.get_mut(at..at + name.len() + 1) {
        Some(rest) => {
            rest[..name.len()].copy_from_slice(name);
            rest[name.len()] = 0;
        }
        None => {
            space[0] = 0;
            control::message(&["hakmem: HAKMEM_PROOF ignored, the file name is too long\n"]);
        }
    }
}

/// Appends the record to the file, if one was asked for.
pub fn write() {
    // SAFETY: INV-PROOF: not written to since the start.
    let file = unsafe { &*FILE.0.get() };
    let Ok(name) = CStr::from_bytes_until_nul(file) else {
        return;
    };
    if name.is_empty() || WRITTEN.swap(true, Relaxed) {
        return;
    }
    // SAFETY: INV-PROOF: ours alone since the swap.
    let mut record = Fixed::new(unsafe { &mut *RECORD.0.get() });
    if compose(&mut record).is_err() {
        control::message(&["hakmem: proof record dropped, it is too long\n"]);
        return;
    }
    let sent = os::open_append(name).is_some_and(|fd| {
        let sent = os::write(fd, record.bytes());
        os::close(fd);
        sent
    });
    if !sent {
        control::message(&["hakmem: HAKMEM_PROOF: can't append to the file\n"]);
    }
}

fn compose(out: &mut Fixed<'_>) -> fmt::Result {
    let mut exe = [0; libc::PATH_MAX as usize];
    let exe = process::executable(&mut exe);
    let ours = object_of(crate::exports_c::malloc as *const c_void, exe);
    // Without a dynamic linker there is one object, the executable.
    let library = ours.unwrap_or(exe);
    let binding = |address| Json(object_of(address, exe).unwrap_or(exe));

    write!(
        out,
        "{{\"hakmem_proof\":1,\"pid\":{},\"ppid\":{}",
        os::process_id(),
        os::parent_process_id()
    )?;
    write!(
        out,
        ",\"exe\":{},\"version\":\"{VERSION}\",\"library\":{}",
        Json(exe),
        Json(library)
    )?;
    write!(
        out,
        ",\"bindings\":{{\"malloc\":{}",
        binding(callee!(malloc))
    )?;
    write!(out, ",\"free\":{}", binding(callee!(free)))?;
    write!(out, ",\"operator_new\":{}}}", binding(callee!(_Znwm)))?;
    served(out)?;
    let usage = process::usage();
    write!(out, ",\"libc_heap_bytes\":{}", OrNull(libc_heap_bytes()))?;
    write!(out, ",\"peak_rss_kib\":{}", usage.peak_rss_kib)?;
    writeln!(
        out,
        ",\"minor_faults\":{},\"major_faults\":{}}}",
        usage.minor_faults, usage.major_faults
    )
}

/// What left the slabs: a lower bound of what the program got, because the threads' caches serve a block again and
/// again without counting.
fn served(out: &mut Fixed<'_>) -> fmt::Result {
    let s = observe::snapshot();
    let blocks: u64 = s.classes.iter().map(|c| c.issued).sum();
    let bytes: u64 = s.classes.iter().map(|c| c.issued * c.size as u64).sum();
    write!(
        out,
        ",\"served\":{{\"blocks\":{blocks},\"bytes\":{bytes},\"exact\":false}},\"classes\":["
    )?;
    let mut comma = "";
    for class in s.classes.iter().filter(|c| c.issued > 0) {
        let bytes = class.issued * class.size as u64;
        write!(
            out,
            "{comma}{{\"size\":{},\"blocks\":{},\"bytes\":{bytes}}}",
            class.size, class.issued
        )?;
        comma = ",";
    }
    write!(
        out,
        "],\"cold\":{{\"malloc\":{},\"free\":{}",
        s.cold.malloc, s.cold.free
    )?;
    write!(
        out,
        ",\"calloc\":{},\"realloc\":{}",
        s.cold.calloc, s.cold.realloc
    )?;
    write!(out, ",\"aligned\":{}}}", s.cold.aligned)
}

/// A value, or the word `null`.
struct OrNull<T>(Option<T>);

impl<T: fmt::Display> fmt::Display for OrNull<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(out),
            None => out.write_str("null"),
        }
    }
}

/// File name of the executable `exe` or the library that holds `address`; `None` where there is no dynamic linker to ask.
fn object_of(address: *const c_void, exe: &[u8]) -> Option<&[u8]> {
    type Dladdr = unsafe extern "C" fn(*const c_void, *mut libc::Dl_info) -> i32;
    let dladdr = bound_if_any!(dladdr: Dladdr)?;
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: INV-BOUND: fills the structure or answers 0.
    let (found, info) = unsafe { (dladdr(address, info.as_mut_ptr()), info.assume_init()) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // The dynamic linker calls the executable what its caller called it, which says little.
    if process::is_executable_at(info.dli_fbase.addr()) {
        return Some(exe);
    }
    // SAFETY: INV-BOUND: the name lives as long as the object.
    Some(unsafe { CStr::from_ptr(info.dli_fname) }.to_bytes())
}

/// Bytes in the C library's own heap: 0 proves that nobody used it. `None` when there is no such heap to ask.
fn libc_heap_bytes() -> Option<usize> {
    type Mallinfo2 = unsafe extern "C" fn() -> libc::mallinfo2;
    let handle = loaded_library(c"libc.so.6");
    if handle.is_null() {
        return None;
    }
    // SAFETY: INV-BOUND: glibc's function of this name has this type; null is `None`.
    let mallinfo2 =
        unsafe { transmute::<*mut c_void, Option<Mallinfo2>>(symbol(handle, c"mallinfo2")) }?;
    // SAFETY: INV-BOUND: takes nothing.
    let info = unsafe { mallinfo2() };
    Some(info.arena + info.hblkhd)
}
