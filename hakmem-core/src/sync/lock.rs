//! A futex lock that allocates nothing, keeps no thread-local state and can be carried over fork.
//!
//! `state` is 0 while the lock is free, else the holder's thread pointer with two flags in its low bits: [`SLEEPERS`],
//! somebody may sleep on it, and [`FORK`], held over a fork. So one instruction takes the lock *and* says who holds it:
//! a signal handler that forks in any moment knows whether the thread it interrupted has the lock.
//!
//! Fork: the forking thread takes every lock, so that the child's copy of all guarded state is whole. Between the
//! fork handlers that thread may still allocate (another library's handler does), so a lock that it holds for the fork
//! lets it pass. A lock that the forking thread itself held, because fork was called from a signal handler that
//! interrupted us, is left alone: the thread goes on to release it, in the child too.

use super::atomic::{AtomicUsize, Ordering::*};
use crate::os;

/// The order in which locks may be taken: a thread holds only locks of lower rank than the one it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    Registry,
    Heap,
    Orphans,
    Shard,
}

const FREE: usize = 0;
const SLEEPERS: usize = 1;
const FORK: usize = 2;

/// Looks at the state this often before sleeping: holders run for less than a system call takes.
const SPINS: u32 = if cfg!(loom) { 1 } else { 64 };

pub struct Lock {
    state: AtomicUsize,
    rank: Rank,
}

/// Releases its lock when dropped.
#[must_use]
pub struct Guard<'a> {
    lock: &'a Lock,
    /// False for the forking thread, which passes through locks that it holds for the fork.
    owned: bool,
}

impl Lock {
    pub const fn new(rank: Rank) -> Lock {
        Lock {
            state: AtomicUsize::new(FREE),
            rank,
        }
    }

    /// The lock's rank, for a check of the order.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    #[inline]
    pub fn lock(&self) -> Guard<'_> {
        let owned = self.acquire();
        if owned {
            ranks::take(self.rank, true);
        }
        Guard { lock: self, owned }
    }

    /// Takes the lock only if that needs no waiting.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_>> {
        let me = os::thread_pointer();
        match self.state.compare_exchange(FREE, me, Acquire, Relaxed) {
            Ok(_) => {
                ranks::take(self.rank, false);
                Some(Guard {
                    lock: self,
                    owned: true,
                })
            }
            Err(state) => lets_pass(state, me).then_some(Guard {
                lock: self,
                owned: false,
            }),
        }
    }

    /// Waits for the lock and takes it; false when the caller holds it for a fork, and may pass.
    #[inline]
    fn acquire(&self) -> bool {
        let me = os::thread_pointer();
        self.state
            .compare_exchange(FREE, me, Acquire, Relaxed)
            .is_ok()
            || self.wait(me)
    }

    #[cold]
    #[inline(never)]
    fn wait(&self, me: usize) -> bool {
        let state = self.state.load(Relaxed);
        if lets_pass(state, me) {
            return false;
        }
        debug_assert_ne!(holder(state), me, "taken twice");
        for _ in 0..SPINS {
            if self.state.load(Relaxed) == FREE
                && self
                    .state
                    .compare_exchange(FREE, me, Acquire, Relaxed)
                    .is_ok()
            {
                return true;
            }
            core::hint::spin_loop();
        }
        self.sleep(me);
        true
    }

    fn sleep(&self, me: usize) {
        let take = |from, to| {
            self.state
                .compare_exchange(from, to, Acquire, Relaxed)
                .is_ok()
        };
        loop {
            match self.state.load(Relaxed) {
                // Others may sleep too, so the flag stays.
                FREE => {
                    if take(FREE, me | SLEEPERS) {
                        return;
                    }
                }
                held => {
                    if held & SLEEPERS != 0 || take(held, held | SLEEPERS) {
                        os::futex_wait(&self.state, held | SLEEPERS);
                    }
                }
            }
        }
    }

    #[inline]
    fn release(&self) {
        if self.state.swap(FREE, Release) & SLEEPERS != 0 {
            os::futex_wake_one(&self.state);
        }
    }

    /// Takes the lock for a fork, unless the caller holds it already. Call in the order of ranks.
    pub fn prepare_fork(&self) {
        if holder(self.state.load(Relaxed)) != os::thread_pointer() {
            self.acquire();
            self.state.fetch_or(FORK, Relaxed);
        }
    }

    /// Releases what [`Lock::prepare_fork`] took.
    pub fn finish_fork(&self) {
        if lets_pass(self.state.load(Relaxed), os::thread_pointer()) {
            self.release();
        }
    }
}

/// The thread pointer of the holder: a multiple of at least 8.
fn holder(state: usize) -> usize {
    state & !(SLEEPERS | FORK)
}

/// Whether the state says that the thread `me` holds the lock for a fork.
fn lets_pass(state: usize, me: usize) -> bool {
    state & !SLEEPERS == me | FORK
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.owned {
            ranks::give(self.lock.rank);
            self.lock.release();
        }
    }
}

/// In a forked child, where all other threads are gone.
pub fn after_fork_in_child() {
    ranks::forget_other_threads();
}

/// Checks the order of ranks in debug builds.
///
/// The ranks that a thread holds are kept in a table indexed by its thread pointer, because the allocator can't use
/// ordinary thread-local storage. A thread that finds no place in the table goes unchecked.
#[cfg(debug_assertions)]
mod ranks {
    use super::*;
    use crate::sync::atomic::AtomicU32;

    struct Entry {
        thread: AtomicUsize,
        held: AtomicU32,
    }

    const LEN: usize = 1024;
    static TABLE: [Entry; LEN] = [const {
        Entry {
            thread: AtomicUsize::new(0),
            held: AtomicU32::new(0),
        }
    }; LEN];

    fn mine() -> Option<&'static Entry> {
        let me = os::thread_pointer();
        (0..8).map(|i| &TABLE[(me / 4096 + i) % LEN]).find(|entry| {
            let owner = entry.thread.load(Relaxed);
            owner == me
                || entry
                    .thread
                    .compare_exchange(0, me, Relaxed, Relaxed)
                    .is_ok()
        })
    }

    pub fn take(rank: Rank, in_order: bool) {
        let Some(entry) = mine() else { return };
        let held = entry.held.load(Relaxed);
        assert!(
            !in_order || held >> rank as u32 == 0,
            "lock of rank {rank:?} under {held:#b}"
        );
        entry.held.store(held | 1 << rank as u32, Relaxed);
    }

    pub fn give(rank: Rank) {
        let Some(entry) = mine() else { return };
        entry.held.fetch_and(!(1 << rank as u32), Relaxed);
    }

    pub fn forget_other_threads() {
        let me = os::thread_pointer();
        TABLE
            .iter()
            .filter(|entry| entry.thread.load(Relaxed) != me)
            .for_each(|entry| entry.held.store(0, Relaxed));
    }
}

#[cfg(not(debug_assertions))]
mod ranks {
    use super::Rank;

    #[inline]
    pub fn take(_: Rank, _: bool) {}
    #[inline]
    pub fn give(_: Rank) {}
    pub fn forget_other_threads() {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::thread;

    #[test]
    fn excludes() {
        static LOCK: Lock = Lock::new(Rank::Shard);
        static COUNT: AtomicU64 = AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let _guard = LOCK.lock();
                        // Not atomic on purpose: only the lock keeps the sum right.
                        COUNT.store(COUNT.load(Relaxed) + 1, Relaxed);
                    }
                });
            }
        });
        assert_eq!(COUNT.load(Relaxed), 80_000);
    }

    #[test]
    fn try_lock_does_not_wait() {
        let lock = Lock::new(Rank::Heap);
        let guard = lock.try_lock().expect("free");
        thread::scope(|scope| {
            scope.spawn(|| assert!(lock.try_lock().is_none()));
        });
        drop(guard);
        assert!(lock.try_lock().is_some());
    }

    #[test]
    fn forking_thread_passes_and_others_wait() {
        let lock = Lock::new(Rank::Heap);
        lock.prepare_fork();
        drop(lock.lock());
        assert!(lock.try_lock().is_some());
        thread::scope(|scope| {
            scope.spawn(|| assert!(lock.try_lock().is_none()));
        });
        lock.finish_fork();
        thread::scope(|scope| {
            scope.spawn(|| assert!(lock.try_lock().is_some()));
        });
    }

    #[test]
    fn a_lock_already_held_stays_held_over_fork() {
        let lock = Lock::new(Rank::Heap);
        let guard = lock.lock();
        lock.prepare_fork();
        lock.finish_fork();
        thread::scope(|scope| {
            scope.spawn(|| assert!(lock.try_lock().is_none()));
        });
        drop(guard);
        assert!(lock.try_lock().is_some());
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "lock of rank Heap")]
    fn wrong_order_is_caught() {
        let (shard, heap) = (Lock::new(Rank::Shard), Lock::new(Rank::Heap));
        let _outer = shard.lock();
        let _inner = heap.lock();
    }
}
