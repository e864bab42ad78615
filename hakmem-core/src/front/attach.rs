//! A thread's beginning and end.

use super::enter::{Entered, Entry, enter};
use super::{Front, current, is_static, registry, spill};
use crate::heap::{self, ORPHANS};
use crate::os::thread_exit;
use core::ffi::c_void;

/// Gives the calling thread, which is inside a cold path, a front, and enters the cold path again with it. `None` when
/// memory is exhausted.
pub(super) fn attach(entered: Entered, entry: Entry) -> Option<Entered> {
    let Some(front) = registry::take() else {
        drop(entered);
        return None;
    };
    entered.leave_attached(front);
    // Outside of the cold path: this may allocate, and by now that works.
    // SAFETY: INV-FRONT: the front is the thread's until its end.
    unsafe { thread_exit::arm(front.cast(), at_thread_exit) };
    enter(entry)
}

/// Runs among the thread's other destructors, which may still free and allocate. So the front goes in the last round.
unsafe extern "C" fn at_thread_exit(front: *mut c_void) {
    let front: *mut Front = front.cast();
    if current() != front {
        return;
    }
    // SAFETY: INV-FRONT: the front is the calling thread's own.
    unsafe {
        (*front).exit_rounds += 1;
        let last = (*front).exit_rounds >= thread_exit::ROUNDS;
        if last || !thread_exit::arm(front.cast(), at_thread_exit) {
            end_thread(front);
        }
    }
}

/// Gives everything that the calling thread has cached to its slabs, those to the orphans, and the front away.
///
/// # Safety
/// `front` is the calling thread's.
unsafe fn end_thread(front: *mut Front) {
    let Some(entered) = enter(Entry::Free) else {
        return;
    };
    // SAFETY: INV-FRONT: the front is the calling thread's, inside a cold path.
    unsafe {
        let mut own = (*front).heap.lock();
        spill::empty(front, &mut own);
        own.drain();
        let mut orphans = ORPHANS.lock();
        own.hand_over(&mut orphans);
        heap::finish_orphans(orphans);
        // What was announced here while the slabs moved is passed on.
        own.drain();
        own.unlock();
        registry::put(front);
    }
    entered.leave_ended();
}

/// Gives everything that the calling thread has cached to its slabs.
pub fn trim_thread() {
    let Some(entered) = enter(Entry::Free) else {
        return;
    };
    let front = current();
    if !is_static(front) {
        // SAFETY: INV-FRONT: the front is the calling thread's, inside a cold path.
        unsafe {
            let mut own = (*front).heap.lock();
            spill::empty(front, &mut own);
            own.unlock();
        }
    }
    drop(entered);
}
