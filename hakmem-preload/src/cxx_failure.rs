//! operator new without memory: the new-handler, std::bad_alloc, and the nothrow forms that catch it.
//!
//! We link no C++ runtime. The five functions we need of one are weak references; where they stay empty, because the
//! runtime came later with a plugin, they are looked up in the runtime that is loaded. Exceptions of the handler and
//! bad_alloc pass only through the frames written in assembly below, which carry unwind tables.

use crate::Block;
use crate::bound::{bound_if_any, loaded_library, symbol};
use crate::exports_cxx::{bound_new_array, bound_new_array_aligned, new_array, new_array_aligned};
use core::arch::global_asm;
use core::ffi::{CStr, c_void};
use core::mem::transmute;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use hakmem_core::{api, control, os};

unsafe extern "C" {
    /// Runs the new-handler until `size` bytes can be had, or throws std::bad_alloc.
    pub fn hak_new_failed(size: usize, align: usize) -> Block;
    /// Throws std::bad_alloc.
    pub fn hak_throw_bad_alloc() -> Block;
    static hak_cxx_runtime: [AtomicPtr<c_void>; 5];
}

const GET_NEW_HANDLER: usize = 0;
const THROW_BAD_ALLOC: usize = 1;
const BEGIN_CATCH: usize = 3;
const END_CATCH: usize = 4;

/// In the order of `hak_cxx_runtime`; 2 is the personality, which only the unwinder calls.
const NAMES: [&CStr; 5] = [
    c"_ZSt15get_new_handlerv",
    c"_ZSt17__throw_bad_allocv",
    c"__gxx_personality_v0",
    c"__cxa_begin_catch",
    c"__cxa_end_catch",
];

global_asm!(
    ".pushsection .data.hak_cxx_runtime,\"aw\",@progbits",
    ".p2align 3",
    ".hidden hak_cxx_runtime",
    ".globl hak_cxx_runtime",
    ".type hak_cxx_runtime,@object",
    ".size hak_cxx_runtime, 40",
    ".weak _ZSt15get_new_handlerv",
    ".weak _ZSt17__throw_bad_allocv",
    ".weak __gxx_personality_v0",
    ".weak __cxa_begin_catch",
    ".weak __cxa_end_catch",
    "hak_cxx_runtime:",
    ".quad _ZSt15get_new_handlerv",
    ".quad _ZSt17__throw_bad_allocv",
    "hak_cxx_personality:",
    ".quad __gxx_personality_v0",
    ".quad __cxa_begin_catch",
    ".quad __cxa_end_catch",
    ".popsection",
);

/// A function of the C++ runtime, or null. The first call fills all five, so that the personality is there before
/// anything is thrown.
fn runtime(index: usize) -> *mut c_void {
    // SAFETY: INV-CXX: defined above, and only ever touched as atomics.
    let table = unsafe { &hak_cxx_runtime };
    if table.iter().any(|slot| slot.load(Relaxed).is_null()) {
        let libraries = [c"libstdc++.so.6", c"libc++abi.so.1", c"libc++.so.1"];
        for library in [None].into_iter().chain(libraries.map(Some)) {
            let handle = library.map_or(libc::RTLD_DEFAULT, loaded_library);
            if library.is_some() && handle.is_null() {
                continue;
            }
            for (slot, name) in table.iter().zip(NAMES) {
                if slot.load(Relaxed).is_null() {
                    slot.store(symbol(handle, name), Relaxed);
                }
            }
        }
    }
    table[index].load(Relaxed)
}

/// The new-handler that the program has set, or null.
extern "C" fn new_handler() -> *const c_void {
    type GetNewHandler = extern "C" fn() -> *const c_void;
    // SAFETY: INV-CXX: the type that the Itanium ABI gives std::get_new_handler; null is `None`.
    let get = unsafe { transmute::<*mut c_void, Option<GetNewHandler>>(runtime(GET_NEW_HANDLER)) };
    get.map_or(core::ptr::null(), |get| get())
}

/// The function that throws std::bad_alloc, or null.
extern "C" fn thrower() -> *const c_void {
    runtime(THROW_BAD_ALLOC)
}

/// A std::bad_alloc to throw where that function is missing. In a statically linked program our references bring no
/// part of the runtime in, but one that can catch the exception has what is needed to make it.
extern "C" fn bad_alloc() -> *mut c_void {
    type Allocate = unsafe extern "C" fn(usize) -> *mut c_void;
    type Function = unsafe extern "C" fn();
    let parts = (
        bound_if_any!(__cxa_allocate_exception: Allocate),
        bound_if_any!(_ZTVSt9bad_alloc: Function),
        bound_if_any!(_ZTISt9bad_alloc: Function),
        bound_if_any!(_ZNSt9bad_allocD1Ev: Function),
        bound_if_any!(__cxa_throw: Function),
    );
    let (Some(allocate), Some(table), Some(_), Some(_), Some(_)) = parts else {
        control::message(&[
            "hakmem: operator new: out of memory, and no C++ runtime is there that could throw std::bad_alloc\n",
        ]);
        os::abort();
    };
    /// The Itanium ABI's offset from a table of virtual functions to what objects point to, in words.
    const OFFSET: usize = 2;
    // SAFETY: INV-CXX: an exception object of one word, which points into its class's table.
    unsafe {
        let object = allocate(size_of::<usize>());
        object
            .cast::<*const usize>()
            .write((table as *const usize).add(OFFSET));
        object
    }
}

extern "C" fn retry(size: usize, align: usize) -> *mut u8 {
    if align == 1 {
        api::malloc_noerrno(size)
    } else {
        api::aligned_noerrno(align, size)
    }
}

/// Ends an exception; the answer is what a nothrow form returns then.
unsafe extern "C" fn caught(exception: *mut c_void) -> Block {
    type BeginCatch = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
    type EndCatch = unsafe extern "C" fn();
    let (begin, end) = (runtime(BEGIN_CATCH), runtime(END_CATCH));
    // SAFETY: INV-CXX: whoever threw the exception has both; the types are the Itanium ABI's.
    unsafe {
        if let Some(begin) = transmute::<*mut c_void, Option<BeginCatch>>(begin) {
            begin(exception);
        }
        if let Some(end) = transmute::<*mut c_void, Option<EndCatch>>(end) {
            end();
        }
    }
    core::ptr::null_mut()
}

global_asm!(
    ".text",
    ".p2align 4",
    ".hidden hak_new_failed",
    ".globl hak_new_failed",
    ".type hak_new_failed,@function",
    "hak_new_failed:",
    ".cfi_startproc",
    "push rbx",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbx, -16",
    "push rbp",
    ".cfi_def_cfa_offset 24",
    ".cfi_offset rbp, -24",
    "sub rsp, 8",
    ".cfi_def_cfa_offset 32",
    "mov rbx, rdi",
    "mov rbp, rsi",
    "2:",
    "call {new_handler}",
    "test rax, rax",
    "jz 3f",
    "call rax",
    "mov rdi, rbx",
    "mov rsi, rbp",
    "call {retry}",
    "test rax, rax",
    "jz 2b",
    "add rsp, 8",
    ".cfi_remember_state",
    ".cfi_def_cfa_offset 24",
    "pop rbp",
    ".cfi_def_cfa_offset 16",
    "pop rbx",
    ".cfi_def_cfa_offset 8",
    "ret",
    ".cfi_restore_state",
    "3:",
    "call hak_throw_bad_alloc",
    "ud2",
    ".cfi_endproc",
    ".size hak_new_failed, . - hak_new_failed",
    ".p2align 4",
    ".weak _ZTISt9bad_alloc",
    ".weak _ZNSt9bad_allocD1Ev",
    ".weak __cxa_throw",
    ".hidden hak_throw_bad_alloc",
    ".globl hak_throw_bad_alloc",
    ".type hak_throw_bad_alloc,@function",
    "hak_throw_bad_alloc:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_def_cfa_offset 16",
    "call {thrower}",
    "test rax, rax",
    "jz 2f",
    "call rax",
    "ud2",
    "2:",
    "call {bad_alloc}",
    "mov rdi, rax",
    "mov rsi, qword ptr [rip + _ZTISt9bad_alloc@GOTPCREL]",
    "mov rdx, qword ptr [rip + _ZNSt9bad_allocD1Ev@GOTPCREL]",
    "call qword ptr [rip + __cxa_throw@GOTPCREL]",
    "ud2",
    ".cfi_endproc",
    ".size hak_throw_bad_alloc, . - hak_throw_bad_alloc",
    new_handler = sym new_handler,
    retry = sym retry,
    thrower = sym thrower,
    bad_alloc = sym bad_alloc,
);

/// The nothrow forms: `try { return operator new(…); } catch (...) { return nullptr; }`, as a compiler writes it. The
/// throwing form is the one that the process has bound. The tables say: an exception out of the call goes to the
/// landing pad, whatever its type.
macro_rules! nothrow {
    ($($symbol:literal -> $throwing:ident;)*) => {
        $(global_asm!(
            ".text",
            ".p2align 4",
            concat!(".weak ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            concat!($symbol, ":"),
            ".cfi_startproc",
            ".cfi_personality 0x9b, hak_cxx_personality",
            concat!(".cfi_lsda 0x1b, .Llsda", $symbol),
            "sub rsp, 8",
            ".cfi_def_cfa_offset 16",
            "2:",
            "call {throwing}",
            "3:",
            "add rsp, 8",
            ".cfi_remember_state",
            ".cfi_def_cfa_offset 8",
            "ret",
            ".cfi_restore_state",
            "4:",
            "mov rdi, rax",
            "call {caught}",
            "add rsp, 8",
            ".cfi_def_cfa_offset 8",
            "ret",
            "5:",
            ".cfi_endproc",
            concat!(".size ", $symbol, ", . - ", $symbol),
            ".pushsection .gcc_except_table,\"a\",@progbits",
            ".p2align 2",
            concat!(".Llsda", $symbol, ":"),
            ".byte 0xff", // landing pads count from the function's start
            ".byte 0x9b", // types: relative, indirect, 4 bytes
            ".uleb128 9f - 6f",
            "6:",
            ".byte 0x01", // call sites in uleb128
            ".uleb128 8f - 7f",
            "7:",
            concat!(".uleb128 2b - ", $symbol),
            ".uleb128 3b - 2b",
            concat!(".uleb128 4b - ", $symbol),
            ".uleb128 1", // action 1; nothing may throw outside this range
            "8:",
            ".byte 1", // action 1: type 1
            ".byte 0", // and no further action
            ".p2align 2",
            ".long 0", // type 1: any
            "9:",
            ".popsection",
            throwing = sym $throwing,
            caught = sym caught,
        );)*
    };
}

// `new_array` leads to the bound single form, which is what the single nothrow form has to call.
nothrow! {
    "_ZnwmRKSt9nothrow_t" -> new_array;
    "_ZnamRKSt9nothrow_t" -> bound_new_array;
    "_ZnwmSt11align_val_tRKSt9nothrow_t" -> new_array_aligned;
    "_ZnamSt11align_val_tRKSt9nothrow_t" -> bound_new_array_aligned;
}
