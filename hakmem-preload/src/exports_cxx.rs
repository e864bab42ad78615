//! operator new and delete, all forms, under their Itanium names.
//!
//! A C++ program may replace some forms; the standard then says that the others go through the replaced ones (array
//! through single, sized through unsized, nothrow through throwing). So the four basic forms are ours alone, and every
//! other form leads to what the process has bound to the basic one. All names are weak, as in the C++ runtimes, so that a
//! program that replaces them still links with libhakmem.a.
//!
//! The basic forms end in a jump, never a call, to what happens without memory: a new-handler may throw, and no frame
//! of Rust may then be in the way.

use crate::Block;
use crate::bound::bound;
use crate::cxx_failure::{hak_new_failed, hak_throw_bad_alloc};
use core::arch::global_asm;
use hakmem_core::api;

type New = unsafe extern "C" fn(usize) -> Block;
type Delete = unsafe extern "C" fn(Block);
type DeleteAligned = unsafe extern "C" fn(Block, usize);

extern "C" fn new(size: usize) -> Block {
    api::malloc_or(size, new_further).cast()
}

#[inline(never)]
fn new_further(size: usize) -> *mut u8 {
    let block = api::malloc_noerrno(size);
    if block.is_null() {
        // SAFETY: INV-CXX: a tail call; see the head of the file.
        return unsafe { hak_new_failed(size, 1) }.cast();
    }
    block
}

extern "C" fn new_aligned(size: usize, align: usize) -> Block {
    if !align.is_power_of_two() {
        // SAFETY: INV-CXX: a tail call; see the head of the file.
        return unsafe { hak_throw_bad_alloc() };
    }
    let block = api::aligned_noerrno(align, size);
    if block.is_null() {
        // SAFETY: INV-CXX: as above.
        return unsafe { hak_new_failed(size, align) };
    }
    block.cast()
}

unsafe extern "C" fn delete(block: Block) {
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::free(block.cast()) }
}

unsafe extern "C" fn delete_aligned(block: Block, _align: usize) {
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::free(block.cast()) }
}

extern "C" fn new_array(size: usize) -> Block {
    let bound = bound!(_Znwm: New);
    if bound as usize != new as *const () as usize {
        return elsewhere_new(size, bound);
    }
    new(size)
}

unsafe extern "C" fn delete_array(block: Block) {
    let bound = bound!(_ZdlPv: Delete);
    if bound as usize != delete as *const () as usize {
        return elsewhere(block, bound);
    }
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::free(block.cast()) }
}

unsafe extern "C" fn delete_sized(block: Block, size: usize) {
    let bound = bound!(_ZdlPv: Delete);
    if bound as usize != delete as *const () as usize {
        return elsewhere(block, bound);
    }
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::free_sized(block.cast(), size) }
}

unsafe extern "C" fn delete_sized_aligned(block: Block, size: usize, align: usize) {
    let bound = bound!(_ZdlPvSt11align_val_t: DeleteAligned);
    if bound as usize != delete_aligned as *const () as usize {
        // SAFETY: INV-BOUND: the program's own operator delete.
        return unsafe { bound(block, align) };
    }
    // SAFETY: INV-API: passed on from the caller.
    unsafe { api::free_aligned_sized(block.cast(), align, size) }
}

/// The program's own operator delete. Out of the way, so that the usual case runs straight on.
#[cold]
#[inline(never)]
fn elsewhere(block: Block, delete: Delete) {
    // SAFETY: INV-BOUND: passed on from the caller.
    unsafe { delete(block) }
}

/// The program's own operator new, as a tail call: it may throw.
#[cold]
#[inline(never)]
fn elsewhere_new(size: usize, new: New) -> Block {
    // SAFETY: INV-BOUND: any size is valid.
    unsafe { new(size) }
}

/// Gives functions of this file their C++ names.
macro_rules! name {
    ($($symbol:literal = $function:ident;)*) => {
        $(global_asm!(
            concat!(".weak ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!(".set ", $symbol, ", {}"),
            sym $function,
        );)*
    };
}

name! {
    "_Znwm" = new;
    "_ZnwmSt11align_val_t" = new_aligned;
    "_ZdlPv" = delete;
    "_ZdlPvSt11align_val_t" = delete_aligned;
    "_Znam" = new_array;
    "_ZdaPv" = delete_array;
    "_ZdlPvm" = delete_sized;
    "_ZdlPvmSt11align_val_t" = delete_sized_aligned;
}

/// Names that jump to what the process has bound to another name. Arguments that the other one doesn't take come last,
/// so that the registers are right as they are.
macro_rules! forward {
    ($($symbol:literal -> $target:literal;)*) => {
        $(global_asm!(
            ".text",
            ".p2align 4",
            concat!(".weak ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            ".cfi_startproc",
            concat!("jmp qword ptr [rip + ", $target, "@GOTPCREL]"),
            ".cfi_endproc",
            concat!(".size ", $symbol, ", . - ", $symbol),
        );)*
    };
}

forward! {
    "_ZnamSt11align_val_t" -> "_ZnwmSt11align_val_t";
    "_ZdaPvm" -> "_ZdaPv";
    "_ZdaPvSt11align_val_t" -> "_ZdlPvSt11align_val_t";
    "_ZdlPvRKSt9nothrow_t" -> "_ZdlPv";
    "_ZdaPvRKSt9nothrow_t" -> "_ZdaPv";
    "_ZdlPvSt11align_val_tRKSt9nothrow_t" -> "_ZdlPvSt11align_val_t";
    "_ZdaPvSt11align_val_tRKSt9nothrow_t" -> "_ZdaPvSt11align_val_t";
}

// The size comes between the block and the alignment.
global_asm!(
    ".text",
    ".p2align 4",
    ".weak _ZdaPvmSt11align_val_t",
    ".type _ZdaPvmSt11align_val_t,@function",
    "_ZdaPvmSt11align_val_t:",
    ".cfi_startproc",
    "mov rsi, rdx",
    "jmp qword ptr [rip + _ZdaPvSt11align_val_t@GOTPCREL]",
    ".cfi_endproc",
    ".size _ZdaPvmSt11align_val_t, . - _ZdaPvmSt11align_val_t",
);
