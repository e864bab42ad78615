//! The granules of one shard: which are free, which of those are resident, and where SuperSlabs come from.
//!
//! Among SuperSlabs that can serve a span the fullest comes first, so that others become empty and can be given back
//! whole; dirty granules come before clean ones, because those are resident. All of it under the shard's lock.

use super::list::{ByDirt, ByFree, List};
use super::meta::Meta;
use super::page_map::{self, Kind};
use super::retain::Retain;
use super::super_slab::{GRANULES, Link, Run, SUPER_SLAB, SuperSlab};
use crate::base::size_class::GRANULE;
use crate::os;
use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use core::mem::size_of;
use core::ptr::null_mut;

/// Granules that a shard may keep resident although nothing is in use: 128 KiB unless mallopt sets
/// another M_TRIM_THRESHOLD.
static FLOOR: AtomicUsize = AtomicUsize::new(2);
/// Granules that all shards together may keep beyond that because refaults asked for it: 16 MiB.
const RETAIN_LEARNED: usize = 256;
static LEARNED: AtomicUsize = AtomicUsize::new(0);

/// Empty SuperSlabs that stay mapped, beyond one per [`KEEP_SHARE`] of those in the shard.
const KEEP_EMPTY: usize = 4;
const KEEP_SHARE: usize = 8;
/// SuperSlabs looked at in one list before the search goes on.
const PROBES: usize = 8;

/// Granules that a shard may keep resident although nothing is in use.
pub fn floor() -> usize {
    FLOOR.load(Relaxed)
}

/// Lets each shard keep `bytes` resident although nothing is in use.
pub fn set_floor(bytes: usize) {
    FLOOR.store(bytes / GRANULE, Relaxed);
}

/// Granules of one shard.
pub struct Pool {
    pub meta: Meta,
    retain: Retain,
    pub(super) by_free: [List<ByFree>; GRANULES as usize + 1],
    pub(super) by_dirt: List<ByDirt>,
    /// Bit n is set when `by_free[n]` has members.
    pub(super) filled: u64,
    index: u32,
    pub(super) super_slabs: usize,
    empty: usize,
    /// Granules in slabs, and free ones that are resident.
    pub used: usize,
    pub dirty: usize,
    /// A SuperSlab was mapped since [`Pool::has_grown`] was last asked.
    grew: bool,
}

/// Granules for one slab.
#[derive(Clone, Copy)]
pub struct Span {
    pub base: *mut u8,
    pub home: *mut SuperSlab,
    /// All of it reads as zero.
    pub clean: bool,
}

/// Amounts in bytes.
#[derive(Clone, Copy, Default)]
pub struct PoolStats {
    pub mapped: usize,
    pub used: usize,
    pub dirty: usize,
    pub meta: usize,
}

impl Pool {
    pub const fn new(index: u32) -> Pool {
        Pool {
            meta: Meta::new(),
            retain: Retain::new(0),
            by_free: [const { List::new() }; GRANULES as usize + 1],
            by_dirt: List::new(),
            filled: 0,
            index,
            super_slabs: 0,
            empty: 0,
            used: 0,
            dirty: 0,
            grew: false,
        }
    }

    /// Whether a SuperSlab was mapped since the last call: a good moment for `segment::relieve`.
    pub fn has_grown(&mut self) -> bool {
        core::mem::replace(&mut self.grew, false)
    }

    /// Takes `granules` (1 to 16) contiguous granules; `None` when the system has no memory.
    pub fn take_span(&mut self, granules: u32) -> Option<Span> {
        let (home, run) = self
            .find_dirty(granules)
            .or_else(|| self.find_any(granules))
            .or_else(|| {
                self.grew = true;
                self.map_super_slab()
                    .map(|home| (home, Run::new(0, granules)))
            })?;
        // SAFETY: INV-SHARD: members of the pool's lists are valid records.
        let (base, dirty) = unsafe { ((*home).address_of(run), (*home).dirty & run.mask) };
        let dirty = dirty.count_ones();
        let most = RETAIN_LEARNED.saturating_sub(LEARNED.load(Relaxed));
        let rise = self.retain.on_refault((granules - dirty) as usize, most);
        if rise > 0 {
            LEARNED.fetch_add(rise, Relaxed);
        }
        self.used += granules as usize;
        self.update(home, |s| {
            s.free &= !run.mask;
            s.dirty &= !run.mask;
        });
        Some(Span {
            base,
            home,
            clean: dirty == 0,
        })
    }

    /// Returns a span whose pages may hold old content; true when [`Shard::purge_excess`] should run.
    ///
    /// # Safety
    /// The span came from [`Pool::take_span`] of this pool and nobody uses it; its page map entries are cleared.
    pub unsafe fn give_span(&mut self, base: *mut u8, home: *mut SuperSlab, granules: u32) -> bool {
        // SAFETY: INV-SPAN: as the caller promises.
        let offset = unsafe { base.offset_from((*home).base) } as usize;
        self.used -= granules as usize;
        self.put_back(home, Run::new((offset / GRANULE) as u32, granules), true);
        self.over_limit()
    }

    pub fn stats(&self) -> PoolStats {
        PoolStats {
            mapped: self.super_slabs * SUPER_SLAB,
            used: self.used * GRANULE,
            dirty: self.dirty * GRANULE,
            meta: self.meta.mapped(),
        }
    }

    fn limit(&self) -> usize {
        floor().saturating_add(self.retain.limit(self.used))
    }

    fn over_limit(&self) -> bool {
        self.dirty > self.limit()
    }

    /// Forgets what refaults taught.
    pub fn forget(&mut self) {
        LEARNED.fetch_sub(self.retain.forget(), Relaxed);
    }

    /// If more is retained than should be: the granules to come down to. Half of the bound, so that the next purge is
    /// a while away.
    pub fn excess(&self) -> Option<usize> {
        self.over_limit().then(|| self.limit() / 2)
    }

    fn find_dirty(&self, granules: u32) -> Option<(*mut SuperSlab, Run)> {
        let mut s = self.by_dirt.last;
        for _ in 0..PROBES {
            if s.is_null() {
                break;
            }
            // SAFETY: INV-SHARD: members of the pool's lists are valid records.
            unsafe {
                if let Some(run) = (*s).find(granules, true) {
                    return Some((s, run));
                }
                s = (*s).by_dirt.prev;
            }
        }
        None
    }

    fn find_any(&self, granules: u32) -> Option<(*mut SuperSlab, Run)> {
        let mut candidates = self.filled >> granules << granules;
        while candidates != 0 {
            let mut s = self.by_free[candidates.trailing_zeros() as usize].first;
            candidates &= candidates - 1;
            for _ in 0..PROBES {
                if s.is_null() {
                    break;
                }
                // SAFETY: INV-SHARD: members of the pool's lists are valid records.
                unsafe {
                    if let Some(run) = (*s).find(granules, false) {
                        return Some((s, run));
                    }
                    s = (*s).by_free.next;
                }
            }
        }
        None
    }

    fn map_super_slab(&mut self) -> Option<*mut SuperSlab> {
        let record: *mut SuperSlab = self.meta.alloc(size_of::<SuperSlab>()).cast();
        if record.is_null() {
            return None;
        }
        let mapped = os::map_aligned(SUPER_SLAB, SUPER_SLAB).filter(|base| {
            page_map::cover(base.as_ptr(), SUPER_SLAB) || {
                // SAFETY: INV-OS-OWN: mapped just above and not in use.
                unsafe { os::unmap(base.as_ptr(), SUPER_SLAB) };
                false
            }
        });
        let Some(base) = mapped else {
            // SAFETY: INV-META: allocated above with the same size.
            unsafe { self.meta.free(record.cast(), size_of::<SuperSlab>()) };
            return None;
        };
        let link = || Link {
            next: null_mut(),
            prev: null_mut(),
        };
        let fresh = SuperSlab {
            base: base.as_ptr(),
            free: u32::MAX,
            dirty: 0,
            by_free: link(),
            by_dirt: link(),
            shard: self.index,
        };
        page_map::set(fresh.base, GRANULES as usize, Kind::FreeSpan as u32, record);
        // SAFETY: INV-META: the record has room for a SuperSlab, and it is on no list yet.
        unsafe {
            record.write(fresh);
            self.by_free[GRANULES as usize].push_front(record);
        }
        self.filled |= 1 << GRANULES;
        self.super_slabs += 1;
        self.empty += 1;
        Some(record)
    }

    /// If more than `keep` granules are dirty, takes the run that is best given back: an empty SuperSlab's first, else
    /// the one dirty for longest.
    pub fn take_dirty(&mut self, keep: usize) -> Option<(*mut SuperSlab, Run)> {
        if self.dirty <= keep {
            return None;
        }
        let mut best = self.by_dirt.first;
        let mut s = best;
        for _ in 0..PROBES {
            if s.is_null() {
                break;
            }
            // SAFETY: INV-SHARD: members of the pool's lists are valid records.
            unsafe {
                if (*s).is_empty() {
                    best = s;
                    break;
                }
                s = (*s).by_dirt.next;
            }
        }
        // SAFETY: INV-SHARD: as above.
        let run = unsafe { best.as_ref()?.first_dirty_run()? };
        self.update(best, |s| {
            s.free &= !run.mask;
            s.dirty &= !run.mask;
        });
        Some((best, run))
    }

    /// Returns a run from [`Pool::take_dirty`], which reads as zero if `clean`.
    pub fn put_purged(&mut self, home: *mut SuperSlab, run: Run, clean: bool) {
        self.put_back(home, run, !clean);
        if clean {
            let fall = self.retain.on_purge(run.granules() as usize);
            LEARNED.fetch_sub(fall, Relaxed);
            self.unmap_surplus();
        }
    }

    fn put_back(&mut self, home: *mut SuperSlab, run: Run, dirty: bool) {
        self.update(home, |s| {
            s.free |= run.mask;
            if dirty {
                s.dirty |= run.mask;
            }
        });
    }

    /// Changes the masks of a SuperSlab and moves it to the lists where it then belongs.
    fn update(&mut self, home: *mut SuperSlab, change: impl FnOnce(&mut SuperSlab)) {
        // SAFETY: INV-SHARD: `home` is a valid record of this pool, on the lists that its masks say.
        unsafe {
            let (free, dirty) = ((*home).free.count_ones(), (*home).dirty);
            change(&mut *home);
            let (now_free, now_dirty) = ((*home).free.count_ones(), (*home).dirty);
            if now_free != free {
                let old = &mut self.by_free[free as usize];
                old.remove(home);
                if old.first.is_null() {
                    self.filled &= !(1 << free);
                }
                self.by_free[now_free as usize].push_front(home);
                self.filled |= 1 << now_free;
                self.empty += (now_free == GRANULES) as usize;
                self.empty -= (free == GRANULES) as usize;
            }
            match (dirty != 0, now_dirty != 0) {
                (false, true) => self.by_dirt.push_back(home),
                (true, false) => self.by_dirt.remove(home),
                _ => {}
            }
            self.dirty += now_dirty.count_ones() as usize;
            self.dirty -= dirty.count_ones() as usize;
        }
    }

    fn unmap_surplus(&mut self) {
        let keep = KEEP_EMPTY + self.super_slabs / KEEP_SHARE;
        if self.empty > 2 * keep {
            self.unmap_empty(keep, false);
        }
    }

    /// Unmaps empty SuperSlabs until `keep` are left, resident ones only if `resident_too`; one that the kernel refuses
    /// to unmap stays in use.
    pub fn unmap_empty(&mut self, keep: usize, resident_too: bool) {
        let mut next = self.by_free[GRANULES as usize].first;
        while self.empty > keep && !next.is_null() {
            let s = next;
            // SAFETY: INV-SHARD: members of the pool's lists are valid records, and an empty SuperSlab has no user, so
            // it may leave its lists and be unmapped.
            unsafe {
                next = (*s).by_free.next;
                let (base, dirty) = ((*s).base, (*s).dirty);
                if dirty != 0 && !resident_too {
                    continue;
                }
                page_map::set::<u8>(base, GRANULES as usize, Kind::None as u32, null_mut());
                if !os::unmap(base, SUPER_SLAB) {
                    page_map::set(base, GRANULES as usize, Kind::FreeSpan as u32, s);
                    return;
                }
                let list = &mut self.by_free[GRANULES as usize];
                list.remove(s);
                if list.first.is_null() {
                    self.filled &= !(1 << GRANULES);
                }
                if dirty != 0 {
                    self.by_dirt.remove(s);
                    self.dirty -= dirty.count_ones() as usize;
                }
                self.meta.free(s.cast(), size_of::<SuperSlab>());
            }
            self.empty -= 1;
            self.super_slabs -= 1;
        }
    }
}
