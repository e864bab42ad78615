//! glibc's extensions: tuning and statistics. Their numbers come from one snapshot; what each field means here is said
//! beside it, because glibc's words (arena, bin, top) describe another allocator.

use crate::report;
use core::ffi::{c_int, c_void};
use core::fmt;
use hakmem_core::{api, observe};
use libc::FILE;

/// Gives free memory back to the system. `pad` bytes may stay for later use. 1 if any went back.
#[unsafe(no_mangle)]
pub extern "C" fn malloc_trim(pad: usize) -> c_int {
    c_int::from(api::trim(pad))
}

/// `M_TRIM_THRESHOLD` sets how much free memory stays resident, as in glibc (-1: all of it). The other parameters steer
/// arenas and a top chunk that don't exist here: they are accepted, as glibc accepts those it doesn't know, and change
/// nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mallopt(parameter: c_int, value: c_int) -> c_int {
    if parameter == libc::M_TRIM_THRESHOLD {
        api::set_trim_threshold(value as isize as usize);
    }
    1
}

/// Bytes, except for the counts `ordblks`, `smblks` and `hblks`.
fn info() -> libc::mallinfo2 {
    let s = observe::snapshot();
    libc::mallinfo2 {
        // Mapped for blocks below the huge ones and for our own records.
        arena: s.mapped.saturating_sub(s.huge_live),
        // Slabs.
        ordblks: s.slabs,
        smblks: 0,
        hblks: s.huge_count,
        hblkhd: s.huge_live,
        usmblks: 0,
        // In the threads' caches.
        fsmblks: s.cached,
        uordblks: s.live,
        fordblks: s.cached + s.free_in_slabs + s.retained,
        // What malloc_trim can give back at least.
        keepcost: s.retained,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn mallinfo2() -> libc::mallinfo2 {
    info()
}

/// The same numbers; what an int can't hold becomes the largest int.
#[unsafe(no_mangle)]
pub extern "C" fn mallinfo() -> libc::mallinfo {
    let wide = info();
    let int = |n: usize| c_int::try_from(n).unwrap_or(c_int::MAX);
    libc::mallinfo {
        arena: int(wide.arena),
        ordblks: int(wide.ordblks),
        smblks: int(wide.smblks),
        hblks: int(wide.hblks),
        hblkhd: int(wide.hblkhd),
        usmblks: int(wide.usmblks),
        fsmblks: int(wide.fsmblks),
        uordblks: int(wide.uordblks),
        fordblks: int(wide.fordblks),
        keepcost: int(wide.keepcost),
    }
}

/// Writes a table to standard error.
#[unsafe(no_mangle)]
pub extern "C" fn malloc_stats() {
    report::to_descriptor(libc::STDERR_FILENO);
}

/// Writes XML to a stream. 0, or EINVAL when `options` isn't 0.
///
/// # Safety
/// `stream` is open for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_info(options: c_int, stream: *mut FILE) -> c_int {
    struct Stream(*mut FILE);
    impl fmt::Write for Stream {
        fn write_str(&mut self, piece: &str) -> fmt::Result {
            // SAFETY: INV-LIBC: the caller's stream; the piece outlives the call. No lock of ours is held.
            let sent =
                unsafe { libc::fwrite(piece.as_ptr().cast::<c_void>(), 1, piece.len(), self.0) };
            if sent == piece.len() {
                Ok(())
            } else {
                Err(fmt::Error)
            }
        }
    }
    if options != 0 {
        return api::EINVAL;
    }
    // A stream that fails has its error indicator set, which is where stdio's callers look.
    let _ = report::xml(&mut Stream(stream), &observe::snapshot());
    0
}
