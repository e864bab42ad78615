//! The numbers, taken at one moment as far as that is possible without stopping the program.

use crate::base::size_class::{CLASSES, NUM_CLASSES};
use crate::front::{self, Entry, enter};
use crate::heap;
use crate::os::counts::COUNTS;
use crate::segment::{huge, shard};
use core::sync::atomic::Ordering::Relaxed;

/// One size class.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassStat {
    /// Bytes per block.
    pub size: usize,
    /// Blocks that left slabs since the process began: at least one allocation each.
    pub issued: u64,
    /// Blocks that came back to slabs.
    pub returned: u64,
    /// Blocks that the program holds.
    pub live: u64,
}

/// System calls since the process began.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsCounts {
    pub map: u64,
    pub unmap: u64,
    pub purge: u64,
    pub remap: u64,
    pub advise: u64,
    pub purge_failed: u64,
}

/// Cold-path entries since the process began, by entry point.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColdCounts {
    pub malloc: u64,
    pub free: u64,
    pub calloc: u64,
    pub realloc: u64,
    pub aligned: u64,
}

/// Amounts in bytes unless the name says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    /// Address space obtained from the system.
    pub mapped: usize,
    /// In blocks of slabs that the program holds, rounded up to their classes.
    pub live: usize,
    /// In threads' caches.
    pub cached: usize,
    /// Free blocks in slabs.
    pub free_in_slabs: usize,
    /// Free and still resident: spans, and huge blocks kept for reuse.
    pub retained: usize,
    /// For the allocator's own records.
    pub metadata: usize,
    pub huge_live: usize,
    /// Number of huge blocks in use.
    pub huge_count: usize,
    /// Number of heaps ever made: the largest number of threads at once, and one.
    pub heaps: usize,
    /// Number of slabs.
    pub slabs: usize,
    pub os: OsCounts,
    pub classes: [ClassStat; NUM_CLASSES],
    pub cold: ColdCounts,
}

/// Takes a snapshot. Locks one heap at a time; may be called at any time, but while other threads run the terms belong
/// to slightly different moments. From a signal handler inside the allocator only the system's counts are filled in.
pub fn snapshot() -> Snapshot {
    let mut all = Snapshot {
        mapped: COUNTS.mapped_bytes.load(Relaxed) as usize,
        live: 0,
        cached: 0,
        free_in_slabs: 0,
        retained: 0,
        metadata: front::mapped(),
        huge_live: 0,
        huge_count: 0,
        heaps: 0,
        slabs: 0,
        os: OsCounts {
            map: COUNTS.map.load(Relaxed),
            unmap: COUNTS.unmap.load(Relaxed),
            purge: COUNTS.purge.load(Relaxed),
            remap: COUNTS.remap.load(Relaxed),
            advise: COUNTS.advise.load(Relaxed),
            purge_failed: COUNTS.purge_failed.load(Relaxed),
        },
        classes: [ClassStat::default(); NUM_CLASSES],
        cold: ColdCounts::default(),
    };
    if let Some(entered) = enter(Entry::Free) {
        fill(&mut all);
        drop(entered);
    }
    all
}

fn fill(all: &mut Snapshot) {
    let mut fault = None;
    heap::each(|heap| {
        all.heaps += 1;
        let mut locked = heap.lock();
        locked.drain();
        for (class, stat) in all.classes.iter_mut().enumerate() {
            let (issued, returned) = locked.traffic(class);
            stat.issued += issued;
            stat.returned += returned;
        }
        let (bytes, slabs) = locked.free_bytes();
        all.free_in_slabs += bytes;
        all.slabs += slabs;
        fault = fault.or(locked.unlock());
    });
    let cached = front::cached_blocks();
    for (class, stat) in all.classes.iter_mut().enumerate() {
        stat.size = CLASSES[class].size as usize;
        let out = stat.issued.saturating_sub(stat.returned);
        let in_caches = out.min(cached[class] as u64);
        stat.live = out - in_caches;
        all.live += stat.live as usize * stat.size;
        all.cached += in_caches as usize * stat.size;
    }
    for shard in shard::all() {
        let stats = shard.lock().stats();
        all.retained += stats.dirty;
        all.metadata += stats.meta;
    }
    let (live, count, kept) = huge::stats();
    all.huge_live = live;
    all.huge_count = count;
    all.retained += kept;
    let cold = front::cold_counts();
    all.cold = ColdCounts {
        malloc: cold[Entry::Malloc as usize],
        free: cold[Entry::Free as usize],
        calloc: cold[Entry::Calloc as usize],
        realloc: cold[Entry::Realloc as usize],
        aligned: cold[Entry::Aligned as usize],
    };
    if let Some(fault) = fault {
        crate::control::misuse::report_fault(fault);
    }
}
