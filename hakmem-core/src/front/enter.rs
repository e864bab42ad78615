//! Entering a cold path, with a signal handler that does the same in mind.

use super::{BUSY, ENDED, Front, NEW, current, is_static, set_current};
use core::sync::atomic::{Ordering, compiler_fence};

/// The entry points whose cold doors are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Entry {
    Malloc,
    Free,
    Calloc,
    Realloc,
    Aligned,
}

impl Entry {
    pub const COUNT: usize = 5;
}

/// The calling thread is inside a cold path until this is dropped.
#[must_use]
pub struct Entered {
    /// What the thread's slot held.
    before: *mut Front,
}

/// Enters a cold path; `None` when the thread is inside one already, that is, when a signal handler interrupted it. The
/// caller must then do without any lock.
#[inline]
pub fn enter(entry: Entry) -> Option<Entered> {
    let before = current();
    if is_static(before) {
        if before == (&raw const BUSY).cast_mut() {
            return None;
        }
        set_current(&raw const BUSY);
    } else {
        // SAFETY: INV-FRONT: a front that is not static is the calling thread's own.
        unsafe {
            if (&raw const (*before).busy).read_volatile() {
                return None;
            }
            (&raw mut (*before).busy).write_volatile(true);
            (*before).entries[entry as usize] += 1;
        }
    }
    compiler_fence(Ordering::SeqCst);
    Some(Entered { before })
}

impl Entered {
    /// The thread's front, if it has one.
    #[inline]
    pub(super) fn front(&self) -> Option<*mut Front> {
        (!is_static(self.before)).then_some(self.before)
    }

    /// The thread has not allocated yet.
    pub(super) fn is_new(&self) -> bool {
        self.before == (&raw const NEW).cast_mut()
    }

    /// The number of the heap whose shard serves this thread; that of the orphans for a thread without a front.
    pub fn number(&self) -> u32 {
        match self.front() {
            // SAFETY: INV-FRONT: the front is the calling thread's own.
            Some(front) => unsafe { (*front).heap.owner.number },
            None => crate::heap::ORPHANS.owner.number,
        }
    }

    /// Leaves the cold path with `front` as the thread's front from now on.
    pub(super) fn leave_attached(self, front: *mut Front) {
        compiler_fence(Ordering::SeqCst);
        set_current(front);
        core::mem::forget(self);
    }

    /// Leaves the cold path of a thread that is past its end. In between `put_away` gives its front to the next thread:
    /// a signal handler that comes then must not find it any more.
    pub(super) fn leave_ended(self, put_away: impl FnOnce()) {
        compiler_fence(Ordering::SeqCst);
        set_current(&raw const BUSY);
        put_away();
        set_current(&raw const ENDED);
        core::mem::forget(self);
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        match self.front() {
            // SAFETY: INV-FRONT: the front is the calling thread's own.
            Some(front) => unsafe { (&raw mut (*front).busy).write_volatile(false) },
            None => set_current(self.before),
        }
    }
}
