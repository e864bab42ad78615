//! Fork: the child of a busy process gets a whole heap.
//!
//! Before the fork the forking thread takes every lock, in the order of ranks, so that no other thread is in the middle
//! of anything that a lock guards. Lock-free states need no waiting: an announcement that died with its thread is made
//! again by the child (`heap::after_fork_in_child`). What other threads had cached is given up in the child, because it
//! may have been changing while memory was copied.

use crate::front;
use crate::heap;
use crate::segment::{huge, shard};
use crate::sync::{self, Lock};

/// Visits every lock, in the order in which they may be taken.
fn each_lock(mut f: impl FnMut(&Lock)) {
    f(heap::registry_lock());
    heap::each(|heap| f(heap.raw_lock()));
    shard::all().iter().for_each(|shard| f(shard.raw_lock()));
}

extern "C" fn prepare() {
    each_lock(Lock::prepare_fork);
}

extern "C" fn parent() {
    each_lock(Lock::finish_fork);
}

extern "C" fn child() {
    front::after_fork_in_child();
    heap::after_fork_in_child();
    huge::reset_after_fork();
    sync::after_fork_in_child();
    each_lock(Lock::finish_fork);
}

/// Registers the handlers. As early as possible: of several libraries' handlers the first registered runs last before
/// the fork and first after it.
pub fn register() {
    // SAFETY: INV-OS-RAW: the handlers are functions of this library, which is never unloaded.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}
