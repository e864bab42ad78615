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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::{Heap, publish, with_registry_locked};
    use crate::sync::Rank;

    /// A fork that asks in another order than everybody else could wait for a thread that waits for it. Ranks are
    /// numbers, so an order that never falls has no circle.
    #[test]
    fn locks_are_visited_in_the_order_of_ranks() {
        for number in [2, 3] {
            let heap = Box::leak(Box::new(Heap::new(number, Rank::Heap)));
            // SAFETY: INV-HEAP: the heap is complete and leaked, and the registry is locked.
            with_registry_locked(|| unsafe { publish(heap) });
        }
        let mut ranks = vec![];
        each_lock(|lock| ranks.push(lock.rank()));
        assert!(ranks.is_sorted(), "{ranks:?}");
        let count = |rank| ranks.iter().filter(|&&other| other == rank).count();
        assert_eq!(count(Rank::Registry), 1);
        assert!(count(Rank::Heap) >= 2);
        assert_eq!(count(Rank::Orphans), 1);
        assert_eq!(count(Rank::Shard), shard::SHARDS);
    }
}
