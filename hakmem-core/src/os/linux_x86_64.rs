//! Linux on x86-64: the system call instruction, the thread pointer and the thread-local slot.

use core::arch::asm;

pub mod nr {
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const MMAP: usize = 9;
    pub const MUNMAP: usize = 11;
    pub const MREMAP: usize = 25;
    pub const MADVISE: usize = 28;
    pub const GETPID: usize = 39;
    pub const READLINK: usize = 89;
    pub const GETPPID: usize = 110;
    pub const FUTEX: usize = 202;
    pub const OPENAT: usize = 257;
}

/// A raw system call: no errno, no cancellation point, no wrapper that another preload could have replaced.
///
/// # Safety
/// As the call demands.
#[inline]
pub unsafe fn syscall(number: usize, args: [usize; 6]) -> usize {
    let answer;
    // SAFETY: INV-OS-RAW: the kernel keeps all registers but rax, rcx and r11; memory effects are the caller's.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => answer,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    answer
}

/// A number that no other live thread of the process has: the thread pointer. It survives fork.
#[inline]
pub fn thread_pointer() -> usize {
    let tp;
    // SAFETY: INV-TLS: the x86-64 ABI keeps the thread pointer's own address at fs:0.
    unsafe {
        asm!("mov {}, qword ptr fs:[0]", out(reg) tp, options(pure, readonly, nostack, preserves_flags))
    };
    tp
}

/// Defines the 8-byte thread-local slot `hakmem_slot`, which begins in every thread as the address of `$initial`.
///
/// Initial-exec on stable Rust: `thread_local!` in a shared library would call `__tls_get_addr` at each access. The
/// slot is all we take of the static TLS reserve, so the library can also be opened late with dlopen.
#[macro_export]
macro_rules! thread_slot {
    ($initial:path) => {
        core::arch::global_asm!(
            ".section .tdata.hakmem_slot,\"awT\",@progbits",
            ".globl hakmem_slot",
            ".hidden hakmem_slot",
            ".type hakmem_slot,@object",
            ".size hakmem_slot,8",
            ".p2align 3",
            "hakmem_slot:",
            ".quad {}",
            ".previous",
            sym $initial,
        );
    };
}

/// Reads the slot: two loads, no call.
#[inline(always)]
pub fn thread_slot_read() -> *mut u8 {
    let value;
    // SAFETY: INV-TLS: the slot is defined by `thread_slot!` and lives as long as the thread.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + hakmem_slot@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) value,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    value
}

#[inline]
pub fn thread_slot_write(value: *mut u8) {
    // SAFETY: INV-TLS: as for reading; without `pure` or `readonly` the compiler forgets what it read before.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + hakmem_slot@GOTTPOFF]",
            "mov qword ptr fs:[{0}], {1}",
            out(reg) _,
            in(reg) value,
            options(nostack, preserves_flags),
        );
    }
}

/// The same number, of which the compiler knows nothing any more.
#[inline(always)]
pub fn opaque_word(mut word: usize) -> usize {
    // SAFETY: INV-OS-RAW: no instruction at all.
    unsafe { asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
    word
}

/// The same pointer, of which the compiler knows nothing any more. It then computes an address once and uses it plainly;
/// left alone it repeats the sum in every access, and stores with an index register cost up to a fifth on long runs.
#[inline(always)]
#[expect(
    clippy::pointers_in_nomem_asm_block,
    reason = "nothing is read or written"
)]
pub fn opaque(mut pointer: *mut u8) -> *mut u8 {
    // SAFETY: INV-OS-RAW: no instruction at all.
    unsafe {
        asm!("/* {0} */", inout(reg) pointer, options(pure, nomem, nostack, preserves_flags))
    };
    pointer
}
