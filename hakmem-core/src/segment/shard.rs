//! The pool of granules, split into shards so that threads rarely meet on its lock. A heap takes spans from its own
//! shard only.

use super::pool::{Pool, floor};
use crate::base::size_class::GRANULE;
use crate::os;
use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::sync::{Guard, Lock, Rank};
use core::cell::UnsafeCell;

pub const SHARDS: usize = 16;

pub struct Shard {
    lock: Lock,
    pool: UnsafeCell<Pool>,
    /// Granules in use, and free ones that are resident, as of the last time the lock was held.
    used: AtomicUsize,
    dirty: AtomicUsize,
}

// SAFETY: INV-SHARD: `pool` is reached only through a `Locked`, which holds the lock.
unsafe impl Sync for Shard {}

static SHARD_TABLE: [Shard; SHARDS] = {
    let mut table = [const { Shard::new(0) }; SHARDS];
    let mut i = 0;
    while i < SHARDS {
        table[i] = Shard::new(i as u32);
        i += 1;
    }
    table
};

/// The shards, all of them.
pub fn all() -> &'static [Shard; SHARDS] {
    &SHARD_TABLE
}

/// The shard that the owner with this number uses.
pub fn of_owner(number: u32) -> &'static Shard {
    &SHARD_TABLE[number as usize % SHARDS]
}

/// A shard's pool with its lock held.
pub struct Locked<'a> {
    _guard: Guard<'a>,
    pool: *mut Pool,
    shard: &'a Shard,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.shard.used.store(self.used, Relaxed);
        self.shard.dirty.store(self.dirty, Relaxed);
    }
}

impl core::ops::Deref for Locked<'_> {
    type Target = Pool;
    fn deref(&self) -> &Pool {
        // SAFETY: INV-SHARD: the lock is held for as long as `self` lives.
        unsafe { &*self.pool }
    }
}

impl core::ops::DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Pool {
        // SAFETY: INV-SHARD: the lock is held for as long as `self` lives.
        unsafe { &mut *self.pool }
    }
}

impl Shard {
    const fn new(index: u32) -> Shard {
        Shard {
            lock: Lock::new(Rank::Shard),
            pool: UnsafeCell::new(Pool::new(index)),
            used: AtomicUsize::new(0),
            dirty: AtomicUsize::new(0),
        }
    }

    pub fn lock(&self) -> Locked<'_> {
        Locked {
            _guard: self.lock.lock(),
            pool: self.pool.get(),
            shard: self,
        }
    }

    /// Locks the pool if that needs no waiting.
    pub fn try_lock(&self) -> Option<Locked<'_>> {
        Some(Locked {
            _guard: self.lock.try_lock()?,
            pool: self.pool.get(),
            shard: self,
        })
    }

    /// The lock itself, for the fork handlers.
    pub fn raw_lock(&self) -> &Lock {
        &self.lock
    }

    /// Gives dirty memory back until `keep` granules are left. The system call runs without the lock: granules being
    /// purged are neither free nor used meanwhile.
    #[cold]
    fn purge_to(&self, keep: usize) -> usize {
        let mut purged = 0;
        loop {
            let Some((home, run)) = self.lock().take_dirty(keep) else {
                return purged;
            };
            // SAFETY: INV-SPAN: the granules were free and are taken out of the pool, so nobody else uses them; `home`
            // stays mapped, because with granules taken out it is not empty.
            let ok = unsafe { os::purge((*home).address_of(run), run.bytes()) };
            self.lock().put_purged(home, run, ok);
            if !ok {
                return purged;
            }
            purged += run.bytes();
        }
    }

    /// Brings retained memory back under its bound; cheap when it is.
    pub fn purge_excess(&self) {
        let excess = self.lock().excess();
        if let Some(keep) = excess {
            self.purge_to(keep);
        }
    }

    /// Bytes in use, and bytes that are free but resident, as of the last time the lock was held.
    pub fn gauge(&self) -> (usize, usize) {
        let (used, dirty) = (self.used.load(Relaxed), self.dirty.load(Relaxed));
        (used * GRANULE, dirty * GRANULE)
    }

    /// Gives back what is retained beyond the least that a shard keeps.
    pub fn purge_to_floor(&self) {
        self.purge_to(floor());
    }

    /// Forgets what refaults taught, and gives back what was kept because of that.
    pub fn settle(&self) {
        if self.dirty.load(Relaxed) > 0 {
            self.lock().forget();
            self.purge_excess();
        }
    }

    /// Gives everything back that is free; returns the bytes.
    pub fn purge_all(&self) -> usize {
        let purged = self.purge_to(0);
        let mut pool = self.lock();
        pool.unmap_empty(0, true);
        debug_assert_eq!(pool.check(), Ok(()));
        purged
    }
}
