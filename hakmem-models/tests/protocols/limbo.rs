//! Announcements that come after the slab is gone: `slab::{announce, release, create, LIMBO}`.

use crate::program::*;
use hakmem_models::model;
use hakmem_models::slab::{LIMBO, slab_of};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The last blocks of a slab are freed by two threads, of which one may announce only when the record is free or is
/// another slab already. No announcement is lost, and none harms the new slab.
#[test]
fn a_late_announcement_is_kept_for_the_next_life() {
    static LATE: AtomicBool = AtomicBool::new(false);
    static REUSED: AtomicBool = AtomicBool::new(false);
    model::check(2, || {
        let heap = model::heap(2);
        let blocks = [take(heap, FEW), take(heap, FEW)];
        let record = slab_of(blocks[0].0);
        let freers = blocks.map(|block| model::spawn(move || free_remotely(block)));
        drain(heap);
        // Another class: the record is used again if the slab is gone, else a new one is made.
        let other = take(heap, SMALL);
        if slab_of(other.0) == record {
            REUSED.store(true, Relaxed);
            // SAFETY: INV-RECORD: slab records are never unmapped.
            LATE.fetch_or(unsafe { (*record).is_dirty() }, Relaxed);
        }
        freers.into_iter().for_each(|t| t.join().unwrap());
        drain(heap);
        assert_holds(heap, FEW, 0);
        assert_holds(heap, SMALL, 1);
        // SAFETY: INV-RECORD: slab records are never unmapped.
        let dirty = unsafe { (*record).is_dirty() };
        assert_eq!(dirty, !LIMBO.is_empty(), "dirty exactly if in limbo");

        // The next slab takes the record over with whatever is announced, and works.
        let next = take(heap, FEW);
        drain(heap);
        assert!(LIMBO.is_empty());
        free_remotely(next);
        free_remotely(other);
        drain(heap);
        assert_holds(heap, FEW, 0);
        assert_holds(heap, SMALL, 0);
    });
    assert!(
        REUSED.load(Relaxed) && LATE.load(Relaxed),
        "the model never gets there"
    );
}
