//! dlopen without RTLD_DEEPBIND.
//!
//! A plugin opened with that flag prefers its own dependencies, the C library among them, to whatever was loaded
//! before: its `free` is then the C library's, and gets blocks of ours from `strdup` or from its host. So the flag is
//! dropped while the process allocates with us, unless the option HAKMEM_DEEPBIND says otherwise.
//!
//! The wrapper edits one register and jumps, so that the C library still sees the program's return address, by which
//! it chooses search path and namespace. The build script gives it the name `dlopen` in the shared library only: a
//! statically linked program has one copy of everything, and its `dlopen` is not ours to replace.

use crate::bound::symbol;
use core::arch::global_asm;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, AtomicPtr, Ordering::Relaxed};

/// The flags that are let through.
static FLAGS: AtomicI32 = AtomicI32::new(!0);
/// The C library's dlopen, once it is known.
static REAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

pub fn drop_deepbind() {
    FLAGS.store(!libc::RTLD_DEEPBIND, Relaxed);
}

/// Null only where there is no dynamic linker.
extern "C" fn find_real() -> *mut c_void {
    let real = symbol(libc::RTLD_NEXT, c"dlopen");
    REAL.store(real, Relaxed);
    real
}

global_asm!(
    ".text",
    ".p2align 4",
    ".globl hak_dlopen",
    ".hidden hak_dlopen",
    ".type hak_dlopen,@function",
    "hak_dlopen:",
    ".cfi_startproc",
    "and esi, dword ptr [rip + {flags}]",
    "mov rax, qword ptr [rip + {real}]",
    "test rax, rax",
    "jz 2f",
    "jmp rax",
    "2:",
    "push rdi",
    ".cfi_def_cfa_offset 16",
    "push rsi",
    ".cfi_def_cfa_offset 24",
    "sub rsp, 8",
    ".cfi_def_cfa_offset 32",
    "call {find_real}",
    "add rsp, 8",
    ".cfi_def_cfa_offset 24",
    "pop rsi",
    ".cfi_def_cfa_offset 16",
    "pop rdi",
    ".cfi_def_cfa_offset 8",
    "test rax, rax",
    "jz 3f",
    "jmp rax",
    "3:",
    "ret",
    ".cfi_endproc",
    ".size hak_dlopen, . - hak_dlopen",
    flags = sym FLAGS,
    real = sym REAL,
    find_real = sym find_real,
);
