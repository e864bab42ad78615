//! A futex lock that allocates nothing, keeps no thread-local state and can be carried over fork.
//!
//! States of `word`: 0 free, 1 held, 2 held and somebody sleeps. `holder` is the thread pointer of the holder, or
//! [`FORKER`] while a fork is under way; it is written only by the holder.
//!
//! Fork: the forking thread takes every lock, so that the child's copy of all guarded state is whole. Between the
//! fork handlers that thread may still allocate (another library's handler does), so a lock held as [`FORKER`] lets it
//! pass. A lock that the forking thread itself held, because fork was called from a signal handler that interrupted
//! us, is left alone: the thread goes on to release it, in the child too.

use super::atomic::{AtomicU32, AtomicUsize, Ordering::*};
use crate::os;

/// The order in which locks may be taken: a thread holds only locks of lower rank than the one it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    Registry,
    Heap,
    Orphans,
    Shard,
}

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

const FORKER: usize = usize::MAX;
/// Looks at the word this often before sleeping: holders run for less than a system call takes.
const SPINS: u32 = 64;

static FORKING_THREAD: AtomicUsize = AtomicUsize::new(0);

pub struct Lock {
    word: AtomicU32,
    rank: Rank,
    holder: AtomicUsize,
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
            word: AtomicU32::new(FREE),
            rank,
            holder: AtomicUsize::new(0),
        }
    }

    #[inline]
    pub fn lock(&self) -> Guard<'_> {
        if self
            .word
            .compare_exchange(FREE, HELD, Acquire, Relaxed)
            .is_err()
            && !self.wait()
        {
            return Guard {
                lock: self,
                owned: false,
            };
        }
        self.taken(true)
    }

    /// Takes the lock only if that needs no waiting.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_>> {
        match self.word.compare_exchange(FREE, HELD, Acquire, Relaxed) {
            Ok(_) => Some(self.taken(false)),
            Err(_) if self.held_for_fork_by_me() => Some(Guard {
                lock: self,
                owned: false,
            }),
            Err(_) => None,
        }
    }

    #[inline]
    fn taken(&self, in_order: bool) -> Guard<'_> {
        self.holder.store(os::thread_pointer(), Relaxed);
        ranks::take(self.rank, in_order);
        Guard {
            lock: self,
            owned: true,
        }
    }

    fn held_for_fork_by_me(&self) -> bool {
        FORKING_THREAD.load(Relaxed) == os::thread_pointer() && self.holder.load(Relaxed) == FORKER
    }

    /// Waits for the lock; false when the caller is the forking thread and the lock is its own.
    #[cold]
    #[inline(never)]
    fn wait(&self) -> bool {
        if self.held_for_fork_by_me() {
            return false;
        }
        debug_assert_ne!(
            self.holder.load(Relaxed),
            os::thread_pointer(),
            "taken twice"
        );
        for _ in 0..SPINS {
            if self.word.load(Relaxed) == FREE
                && self
                    .word
                    .compare_exchange(FREE, HELD, Acquire, Relaxed)
                    .is_ok()
            {
                return true;
            }
            core::hint::spin_loop();
        }
        while self.word.swap(CONTENDED, Acquire) != FREE {
            os::futex_wait(&self.word, CONTENDED);
        }
        true
    }

    #[inline]
    fn release(&self) {
        self.holder.store(0, Relaxed);
        if self.word.swap(FREE, Release) == CONTENDED {
            os::futex_wake_one(&self.word);
        }
    }

    /// Takes the lock for a fork, unless the caller holds it already. Call in the order of ranks.
    pub fn prepare_fork(&self) {
        if self.holder.load(Relaxed) == os::thread_pointer() {
            return;
        }
        if self
            .word
            .compare_exchange(FREE, HELD, Acquire, Relaxed)
            .is_err()
        {
            self.wait();
        }
        self.holder.store(FORKER, Relaxed);
    }

    /// Releases what [`Lock::prepare_fork`] took.
    pub fn finish_fork(&self) {
        if self.holder.load(Relaxed) == FORKER {
            self.release();
        }
    }
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

/// Marks the calling thread as the one that forks; call after every lock has been taken.
pub fn fork_begin() {
    FORKING_THREAD.store(os::thread_pointer(), Relaxed);
}

/// Ends the passage that [`fork_begin`] opened; call before the locks are released.
pub fn fork_end() {
    FORKING_THREAD.store(0, Relaxed);
}

/// [`fork_end`] in the child, where all other threads are gone.
pub fn fork_end_in_child() {
    ranks::forget_other_threads();
    fork_end();
}

/// Checks the order of ranks in debug builds.
///
/// The ranks that a thread holds are kept in a table indexed by its thread pointer, because the allocator can't use
/// ordinary thread-local storage. A thread that finds no place in the table goes unchecked.
#[cfg(debug_assertions)]
mod ranks {
    use super::*;

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
        fork_begin();
        drop(lock.lock());
        assert!(lock.try_lock().is_some());
        thread::scope(|scope| {
            scope.spawn(|| assert!(lock.try_lock().is_none()));
        });
        fork_end();
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
