//! operator new and delete, all forms, under their Itanium names.
//!
//! A C++ program may replace some forms; the standard then says that the others go through the replaced ones (array
//! through single, sized through unsized, nothrow through throwing). So the four basic forms are ours alone, and every
//! other form leads to what the process has bound to the one that the standard names. All names are weak, as in the C++
//! runtimes, so that a program that replaces them still links with libhakmem.a.
//!
//! Forms of new end in a jump, never a call, to what may throw: no frame of Rust may then be in the way.

use crate::Block;
use crate::bound::{bound, is_late};
use crate::cxx_failure::{hak_new_failed, hak_throw_bad_alloc};
use core::arch::global_asm;
use core::ffi::c_void;
use hakmem_core::api;

type New = unsafe extern "C" fn(usize) -> Block;
type NewAligned = unsafe extern "C" fn(usize, usize) -> Block;
type Delete = unsafe extern "C" fn(Block);
type DeleteAligned = unsafe extern "C" fn(Block, usize);
/// std::nothrow, which only chooses the form.
type Tag = *const c_void;

unsafe extern "C" fn new(size: usize) -> Block {
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

unsafe extern "C" fn new_aligned(size: usize, align: usize) -> Block {
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

/// Defines forms that lead to another one: `bound` is what the process has bound to that name and does the work if it
/// isn't `ours`, which is to say if the program has replaced it.
macro_rules! forms {
    ($(
        fn $form:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? {
            if ($symbol:ident: $kind:ty) is $ours:ident { $work:expr } else { $bound:ident($($passed:ident),*) }
        }
    )*) => {
        $(pub unsafe extern "C" fn $form($($argument: $type),*) $(-> $result)? {
            /// Out of the way, so that the usual case runs straight on.
            #[cold]
            #[inline(never)]
            unsafe extern "C" fn elsewhere($($argument: $type),*) $(-> $result)? {
                let $bound = bound!($symbol: $kind);
                // The C++ runtime's forms are bound when we came after it, which replaces nothing.
                // SAFETY: INV-API: passed on from the caller.
                unsafe { if is_late() { $work } else { $bound($($passed),*) } }
            }
            let $bound = bound!($symbol: $kind);
            if $bound as usize != $ours as *const () as usize {
                // SAFETY: INV-API: passed on from the caller.
                return unsafe { elsewhere($($argument),*) };
            }
            // SAFETY: INV-API: passed on from the caller.
            unsafe { $work }
        })*
    };
}

forms! {
    fn new_array(size: usize) -> Block {
        if (_Znwm: New) is new { new(size) } else { bound(size) }
    }
    fn new_array_aligned(size: usize, align: usize) -> Block {
        if (_ZnwmSt11align_val_t: NewAligned) is new_aligned { new_aligned(size, align) } else { bound(size, align) }
    }
    fn delete_array(block: Block) {
        if (_ZdlPv: Delete) is delete { api::free(block.cast()) } else { bound(block) }
    }
    fn delete_sized(block: Block, size: usize) {
        if (_ZdlPv: Delete) is delete { api::free_sized(block.cast(), size) } else { bound(block) }
    }
    fn delete_nothrow(block: Block, _tag: Tag) {
        if (_ZdlPv: Delete) is delete { api::free(block.cast()) } else { bound(block) }
    }
    fn delete_array_sized(block: Block, size: usize) {
        if (_ZdaPv: Delete) is delete_array { delete_sized(block, size) } else { bound(block) }
    }
    fn delete_array_nothrow(block: Block, _tag: Tag) {
        if (_ZdaPv: Delete) is delete_array { delete_array(block) } else { bound(block) }
    }
    fn delete_array_aligned(block: Block, align: usize) {
        if (_ZdlPvSt11align_val_t: DeleteAligned) is delete_aligned { api::free(block.cast()) } else { bound(block, align) }
    }
    fn delete_sized_aligned(block: Block, size: usize, align: usize) {
        if (_ZdlPvSt11align_val_t: DeleteAligned) is delete_aligned {
            api::free_aligned_sized(block.cast(), align, size)
        } else { bound(block, align) }
    }
    fn delete_aligned_nothrow(block: Block, align: usize, _tag: Tag) {
        if (_ZdlPvSt11align_val_t: DeleteAligned) is delete_aligned { api::free(block.cast()) } else { bound(block, align) }
    }
    fn delete_array_sized_aligned(block: Block, size: usize, align: usize) {
        if (_ZdaPvSt11align_val_t: DeleteAligned) is delete_array_aligned {
            delete_sized_aligned(block, size, align)
        } else { bound(block, align) }
    }
    fn delete_array_aligned_nothrow(block: Block, align: usize, _tag: Tag) {
        if (_ZdaPvSt11align_val_t: DeleteAligned) is delete_array_aligned {
            delete_array_aligned(block, align)
        } else { bound(block, align) }
    }
    fn bound_new_array(size: usize) -> Block {
        if (_Znam: New) is new_array { new_array(size) } else { bound(size) }
    }
    fn bound_new_array_aligned(size: usize, align: usize) -> Block {
        if (_ZnamSt11align_val_t: NewAligned) is new_array_aligned {
            new_array_aligned(size, align)
        } else { bound(size, align) }
    }
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

// The nothrow forms of new are in cxx_failure.rs.
name! {
    "_Znwm" = new;
    "_Znam" = new_array;
    "_ZnwmSt11align_val_t" = new_aligned;
    "_ZnamSt11align_val_t" = new_array_aligned;
    "_ZdlPv" = delete;
    "_ZdaPv" = delete_array;
    "_ZdlPvm" = delete_sized;
    "_ZdaPvm" = delete_array_sized;
    "_ZdlPvRKSt9nothrow_t" = delete_nothrow;
    "_ZdaPvRKSt9nothrow_t" = delete_array_nothrow;
    "_ZdlPvSt11align_val_t" = delete_aligned;
    "_ZdaPvSt11align_val_t" = delete_array_aligned;
    "_ZdlPvmSt11align_val_t" = delete_sized_aligned;
    "_ZdaPvmSt11align_val_t" = delete_array_sized_aligned;
    "_ZdlPvSt11align_val_tRKSt9nothrow_t" = delete_aligned_nothrow;
    "_ZdaPvSt11align_val_tRKSt9nothrow_t" = delete_array_aligned_nothrow;
}
