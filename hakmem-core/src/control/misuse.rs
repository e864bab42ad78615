//! What happens when a program frees what it does not hold.

use super::message::Line;
use crate::front::{self, Bad};
use crate::heap::Fault;
use crate::os;
use crate::segment::page_map::{self, Kind};
use core::ffi::c_void;
use core::fmt::Write;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Relaxed};

/// What follows a misuse that was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Misuse {
    /// A message, then the end of the process: memory is, or will be, corrupt.
    Abort,
    /// A message; the faulty call does nothing.
    Report,
    /// The faulty call does nothing.
    Ignore,
}

static POLICY: AtomicU8 = AtomicU8::new(Misuse::Abort as u8);

/// The free of another allocator.
pub type ForeignFree = unsafe extern "C" fn(*mut c_void);

/// A [`ForeignFree`], or null.
static FOREIGN_FREE: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// From now on, pointers to free that are not ours go to `free`: the program has another allocator too, and its blocks
/// may come here.
pub fn set_foreign_free(free: ForeignFree) {
    FOREIGN_FREE.store(free as *mut c_void, Relaxed);
}

fn foreign_free() -> Option<ForeignFree> {
    // SAFETY: INV-HOOK: only `set_foreign_free` stores here; null is `None`.
    unsafe { core::mem::transmute(FOREIGN_FREE.load(Relaxed)) }
}

pub fn set_policy(policy: Misuse) {
    POLICY.store(policy as u8, Relaxed);
}

/// What the program asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Free,
    Realloc,
    UsableSize,
    SizedFree(usize),
}

/// Reports a fault that was found in a heap, perhaps some time after the call that caused it.
pub fn report_fault(fault: Fault) {
    if let Err((at, bad)) = front::result_of(Some(fault)) {
        report(Operation::Free, at, bad);
    }
}

/// Whether another allocator may have a block at `at`: perhaps where a huge block of ours was unmapped.
fn may_be_foreign(at: *const u8, bad: Bad) -> bool {
    let released = || page_map::tag_at(at) == Kind::Released as u32;
    bad == Bad::Foreign || matches!(bad, Bad::Twice(_)) && released()
}

/// Reports the misuse of the pointer `at` and aborts, unless the policy is another.
#[cold]
pub fn report(operation: Operation, at: *mut u8, bad: Bad) {
    if matches!(operation, Operation::Free | Operation::SizedFree(_))
        && may_be_foreign(at, bad)
        && let Some(free) = foreign_free()
    {
        // SAFETY: INV-HOOK: not a block of ours, so the other allocator has to know it.
        return unsafe { free(at.cast()) };
    }
    let policy = POLICY.load(Relaxed);
    if policy == Misuse::Ignore as u8 {
        return;
    }
    let mut line = Line::new();
    describe(&mut line, operation, at, bad);
    os::write(2, line.as_bytes());
    if policy == Misuse::Abort as u8 {
        os::abort();
    }
}

/// A sized free said that a block of `actual` bytes was asked for as `claimed`.
#[cold]
pub fn report_size(at: *mut u8, claimed: usize, actual: usize) {
    report(Operation::SizedFree(claimed), at, Bad::Inside(at, actual));
}

fn describe(line: &mut Line, operation: Operation, at: *mut u8, bad: Bad) {
    let fault = match (operation, bad) {
        (Operation::SizedFree(_), Bad::Inside(start, _)) if start == at => {
            "wrong size in sized free"
        }
        (Operation::Free | Operation::SizedFree(_), Bad::Twice(_)) => "double free",
        (Operation::Free | Operation::SizedFree(_), _) => "invalid free",
        (Operation::Realloc, _) => "invalid realloc",
        (Operation::UsableSize, _) => "invalid size query",
    };
    let _ = write!(line, "hakmem: {fault}: pointer {at:p} ");
    let _ = match (operation, bad) {
        (Operation::SizedFree(claimed), Bad::Inside(start, len)) if start == at => write!(
            line,
            "is a block of {len} bytes, which no request for {claimed} bytes gets \
             (docs/MISUSE.md#wrong-size)"
        ),
        (_, Bad::Foreign) => {
            write!(
                line,
                "is not a block of hakmem (docs/MISUSE.md#foreign-pointer)"
            )
        }
        (_, Bad::Unused) => write!(
            line,
            "is not a block: its memory was given back to hakmem (docs/MISUSE.md#invalid-free)"
        ),
        (_, Bad::Inside(start, len)) => write!(
            line,
            "lies inside a block of {len} bytes that starts at {start:p} \
             (docs/MISUSE.md#interior-pointer)"
        ),
        (_, Bad::Twice(len)) => {
            write!(
                line,
                "is already free (block of {len} bytes) (docs/MISUSE.md#double-free)"
            )
        }
    };
    let _ = line.write_str("\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr::without_provenance_mut;
    use std::string::String;

    fn text(operation: Operation, bad: Bad) -> String {
        let mut line = Line::new();
        describe(&mut line, operation, without_provenance_mut(0x1230), bad);
        String::from_utf8(line.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn messages_say_what_where_and_which_page() {
        assert_eq!(
            text(Operation::Free, Bad::Foreign),
            "hakmem: invalid free: pointer 0x1230 is not a block of hakmem \
             (docs/MISUSE.md#foreign-pointer)\n"
        );
        assert_eq!(
            text(Operation::Free, Bad::Twice(64)),
            "hakmem: double free: pointer 0x1230 is already free (block of 64 bytes) \
             (docs/MISUSE.md#double-free)\n"
        );
        assert_eq!(
            text(
                Operation::Realloc,
                Bad::Inside(without_provenance_mut(0x1000), 640)
            ),
            "hakmem: invalid realloc: pointer 0x1230 lies inside a block of 640 bytes that starts at \
             0x1000 (docs/MISUSE.md#interior-pointer)\n"
        );
        assert_eq!(
            text(
                Operation::SizedFree(9),
                Bad::Inside(without_provenance_mut(0x1230), 640)
            ),
            "hakmem: wrong size in sized free: pointer 0x1230 is a block of 640 bytes, which no request \
             for 9 bytes gets (docs/MISUSE.md#wrong-size)\n"
        );
    }
}
