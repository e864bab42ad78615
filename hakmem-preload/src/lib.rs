//! libhakmem.so and libhakmem.a: the allocator under the names that programs call.
//!
//! | file | what |
//! |---|---|
//! | `exports_c` | malloc, free and the rest of the C family |
//! | `exports_libc` | their `__libc_` spellings |
//! | `exports_glibc` | malloc_trim, mallopt, mallinfo, malloc_stats, malloc_info |
//! | `exports_cxx`, `cxx_failure` | operator new and delete; what happens when new finds no memory |
//! | `exports_hak` | hakmem's own API, declared in `include/hakmem.h` |
//! | `bound` | which definition the process uses for a name; where the next one is |
//! | `dlopen` | drops RTLD_DEEPBIND (shared library only) |
//! | `start` | options at start, the hook at exit |
//! | `proof`, `report`, `process` | the record at exit; statistics as text and XML; facts about the process |
//!
//! `no_builtins`: the compiler may not turn a loop in here into a call of memset or, worse, malloc and memset into
//! calloc.
#![no_std]
#![no_builtins]
#![deny(clippy::undocumented_unsafe_blocks, unsafe_op_in_unsafe_fn)]

mod bound;
mod cxx_failure;
mod dlopen;
mod exports_c;
mod exports_cxx;
mod exports_glibc;
mod exports_hak;
mod exports_libc;
mod process;
mod proof;
mod report;
mod start;

use core::ffi::c_void;

/// A block as C sees it.
type Block = *mut c_void;

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(crate) const BUILD: &str = env!("HAKMEM_BUILD");

#[cfg(not(test))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    use core::fmt::Write;
    use hakmem_core::{control, observe::format::Fixed, os};

    let mut space = [0; 512];
    let mut text = Fixed::new(&mut space);
    let _ = writeln!(text, "{info}");
    control::message(&["hakmem: internal error: ", text.text()]);
    os::abort()
}

// The precompiled core refers to the unwinder's personality, which only std defines. Nothing here unwinds, so it is
// never called. Weak, because a Rust program that links libhakmem.a brings the real one.
core::arch::global_asm!(
    ".weak rust_eh_personality",
    ".hidden rust_eh_personality",
    "rust_eh_personality:",
    "ud2",
);
