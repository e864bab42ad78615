//! Which definition the process uses for a name, and which it would use without us.
//!
//! | calls of `malloc` reach | we are | and then |
//! |---|---|---|
//! | us | preloaded or linked | serve |
//! | somebody before us, such as the program | overridden | stand aside |
//! | the definition after ours | opened late, with dlopen | serve whoever asks for us by our handle |
//!
//! A program that defines malloc must not get a block of ours out of a name that it forgot, because its own `free`
//! will get that block. So when overridden we *stand aside*: those names lead to the next definition, as if we weren't
//! there. What is bound is in our global offset table, filled by the dynamic linker before any code of ours runs; in an
//! executable the linker has folded it away.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The address that callers of `$name` reach, as a function of type `$kind`.
macro_rules! bound {
    ($name:ident: $kind:ty) => {{
        let address: *const core::ffi::c_void;
        // SAFETY: INV-BOUND: reads one entry of the global offset table, constant since relocation.
        unsafe {
            core::arch::asm!(
                concat!("mov {}, qword ptr [rip + ", stringify!($name), "@GOTPCREL]"),
                out(reg) address,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        // SAFETY: INV-BOUND: the name is a function of the C library's or C++ runtime's type.
        unsafe { core::mem::transmute::<*const core::ffi::c_void, $kind>(address) }
    }};
}

/// Like [`bound!`] for a name that nobody may define: `None` then. Never pulls an object out of an archive.
macro_rules! bound_if_any {
    ($name:ident: $kind:ty) => {{
        let address: *const core::ffi::c_void;
        // SAFETY: INV-BOUND: as for `bound!`; an undefined weak name reads as null.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", stringify!($name)),
                concat!("mov {}, qword ptr [rip + ", stringify!($name), "@GOTPCREL]"),
                out(reg) address,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        // SAFETY: INV-BOUND: null is `None` of an optional function pointer; else as for `bound!`.
        unsafe { core::mem::transmute::<*const core::ffi::c_void, Option<$kind>>(address) }
    }};
}

/// When we stand aside: the definition of `$name` after ours, if there is one.
macro_rules! aside {
    ($name:ident: $kind:ty) => {{
        static NEXT: $crate::bound::Next = $crate::bound::Next::new();
        if $crate::bound::standing_aside() {
            let name = concat!(stringify!($name), "\0");
            // SAFETY: INV-BOUND: whoever defines this name gives it the C library's type; null is `None`.
            unsafe { core::mem::transmute::<*mut core::ffi::c_void, Option<$kind>>(NEXT.find(name)) }
        } else {
            None
        }
    }};
}

/// The address that a call of `$name` ends up at. Differs from [`bound!`] in a program that was linked to fixed
/// addresses and takes the function's address: all pointers to it then lead to a jump in the program, as if the program
/// defined it.
macro_rules! callee {
    ($name:ident) => {{
        let stub: *const u8;
        // SAFETY: INV-BOUND: takes an address.
        unsafe {
            core::arch::asm!(
                concat!("lea {}, [rip + ", stringify!($name), "@PLT]"),
                out(reg) stub,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        $crate::bound::target_of(stub)
    }};
}

pub(crate) use {aside, bound, bound_if_any, callee};

/// Where a stub of the procedure linkage table jumps: `jmp [rip + offset]`, through an entry filled when the library
/// was loaded. Anything else is the function itself, as in an executable.
pub fn target_of(stub: *const u8) -> *const c_void {
    const JUMP_INDIRECT: [u8; 2] = [0xff, 0x25];
    const LEN: usize = 6;
    // SAFETY: INV-BOUND: a stub or a function, more than six bytes of code either way; the entry is in our own image.
    unsafe {
        let code = stub.cast::<[u8; LEN]>().read();
        if code[..2] != JUMP_INDIRECT {
            return stub.cast();
        }
        let offset = i32::from_le_bytes([code[2], code[3], code[4], code[5]]);
        stub.add(LEN)
            .offset(offset as isize)
            .cast::<*const c_void>()
            .read_unaligned()
    }
}

pub type Free = unsafe extern "C" fn(*mut c_void);
pub type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
pub type Dlopen = unsafe extern "C" fn(*const c_char, i32) -> *mut c_void;

unsafe extern "C" {
    static __ehdr_start: u8;
    static _end: u8;
}

/// Whether `address` lies in the executable or library that this code is part of.
pub fn is_in_this_image(address: usize) -> bool {
    ((&raw const __ehdr_start).addr()..(&raw const _end).addr()).contains(&address)
}

/// Whether somebody before us serves the process.
pub fn standing_aside() -> bool {
    malloc_is_elsewhere() && !opened_late()
}

/// Whether the process allocates without us, with the definition that comes after ours.
pub fn is_late() -> bool {
    malloc_is_elsewhere() && opened_late()
}

fn malloc_is_elsewhere() -> bool {
    !is_in_this_image(callee!(malloc).addr())
}

#[cold]
fn opened_late() -> bool {
    static NEXT: Next = Next::new();
    NEXT.find("malloc\0").cast_const() == callee!(malloc)
}

/// The free after ours, when we stand aside: blocks that aren't ours are its.
pub fn next_free() -> Option<Free> {
    aside!(free: Free)
}

/// The definition of a name after ours, looked up once.
pub struct Next(AtomicPtr<c_void>);

impl Next {
    pub const fn new() -> Next {
        Next(AtomicPtr::new(core::ptr::null_mut()))
    }

    /// `name` ends with a zero byte. Null when nobody else defines the name.
    #[cold]
    pub fn find(&self, name: &'static str) -> *mut c_void {
        let known = self.0.load(Relaxed);
        if !known.is_null() {
            return known;
        }
        let name = CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or_default();
        let found = symbol(libc::RTLD_NEXT, name);
        self.0.store(found, Relaxed);
        found
    }
}

/// dlsym, where there is one. Null in a statically linked program.
pub fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
    match bound_if_any!(dlsym: Dlsym) {
        // SAFETY: INV-BOUND: a handle from dlopen or one of the special handles, and a C string.
        Some(dlsym) => unsafe { dlsym(handle, name.as_ptr()) },
        None => core::ptr::null_mut(),
    }
}

/// A handle of a library that is already loaded; null when it isn't. dlopen itself is looked up, because a mere mention
/// of it makes the linker warn in static links.
pub fn loaded_library(name: &CStr) -> *mut c_void {
    let dlopen = symbol(libc::RTLD_DEFAULT, c"dlopen");
    // SAFETY: INV-BOUND: whoever defines this name gives it the C library's type; null is `None`.
    match unsafe { core::mem::transmute::<*mut c_void, Option<Dlopen>>(dlopen) } {
        // SAFETY: INV-BOUND: with RTLD_NOLOAD nothing is loaded and no foreign code runs.
        Some(dlopen) => unsafe { dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) },
        None => core::ptr::null_mut(),
    }
}
