//! A thread's beginning and end.

use super::enter::{Entered, Entry, enter};
use super::{CACHELESS, Front, current, is_static, registry, spill};
use crate::control::misuse;
use crate::heap::{self, Fault, ORPHANS};
use crate::os::thread_exit;
use crate::segment;
use core::ffi::c_void;
use core::sync::atomic::Ordering::Relaxed;

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
    let fault = unsafe {
        let mut own = (*front).heap.lock();
        spill::empty(front, &mut own);
        own.drain();
        debug_assert_eq!(own.check(), Ok(()));
        let mut orphans = ORPHANS.lock();
        own.hand_over(&mut orphans);
        heap::finish_orphans(orphans).or(own.unlock())
    };
    entered.leave_ended(|| {
        // SAFETY: INV-FRONT: the thread does not lead to the front any more.
        let left = unsafe { registry::put(front) };
        if left <= 1 {
            // The threads have done their work: what was kept for the next of them goes back.
            segment::settle();
        }
    });
    if let Some(fault) = fault {
        misuse::report_fault(fault);
    }
}

/// Gives everything that the calling thread has cached to its slabs. Returns a fault found on the way.
pub fn trim_thread() -> Option<Fault> {
    let entered = enter(Entry::Free)?;
    let front = current();
    let fault = match is_static(front) {
        true => None,
        // SAFETY: INV-FRONT: the front is the calling thread's, inside a cold path.
        false => unsafe {
            let mut own = (*front).heap.lock();
            spill::empty(front, &mut own);
            own.unlock()
        },
    };
    drop(entered);
    fault
}

/// From now on threads cache nothing. To be called before a second thread allocates.
pub fn stop_caching() {
    CACHELESS.store(true, Relaxed);
    let Some(entered) = enter(Entry::Free) else {
        return;
    };
    if let Some(front) = entered.front() {
        // SAFETY: INV-FRONT: the front is the calling thread's, inside a cold path.
        unsafe {
            let mut own = (*front).heap.lock();
            spill::empty(front, &mut own);
            Front::set_rooms(front);
            let _ = own.unlock();
        }
    }
}
