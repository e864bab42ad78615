//! The page map's leaves: `segment::page_map`.

use hakmem_models::base::size_class::GRANULE;
use hakmem_models::segment::page_map::{claim, cover, record_at, set, tag_at};
use hakmem_models::{model, os};
use std::ptr::without_provenance_mut;

const RANGE: usize = 0x77 << 32;

fn granule(index: usize) -> *mut u8 {
    without_provenance_mut(RANGE + index * GRANULE)
}

/// Two threads need the same leaf at once, a third one probes: one leaf stays, no entry is lost, and a tag that is seen
/// comes with its record.
#[test]
fn one_leaf_is_published() {
    model::check(2, || {
        let writers = [1, 2].map(|index| {
            model::spawn(move || {
                assert!(cover(granule(index), GRANULE));
                set(granule(index), 1, 0x100 + index as u32, granule(8 * index));
                assert_eq!(tag_at(granule(index)), 0x100 + index as u32);
            })
        });
        match tag_at(granule(1)) {
            0 => {}
            0x101 => {}
            tag => panic!("tag {tag:#x}"),
        }
        let seen = record_at::<u8>(granule(2));
        assert!(seen.is_null() || seen == granule(16));
        writers.into_iter().for_each(|t| t.join().unwrap());
        for index in [1, 2] {
            assert_eq!(tag_at(granule(index)), 0x100 + index as u32);
            assert_eq!(record_at::<u8>(granule(index)), granule(8 * index));
        }
        assert_eq!(os::mappings(), 1, "the loser's leaf goes back");
    });
}

/// Of three that claim the same granule one succeeds.
#[test]
fn one_claim_succeeds() {
    model::check(3, || {
        assert!(cover(granule(0), GRANULE));
        set(granule(0), 1, 2, granule(1));
        let others = [4, 6].map(|to| model::spawn(move || claim(granule(0), 2, to)));
        let mine = claim(granule(0), 2, 8);
        let others = others.map(|t| t.join().unwrap());
        let wins = [mine, others[0], others[1]];
        assert_eq!(wins.iter().filter(|&&won| won).count(), 1);
        let index = wins.iter().position(|&won| won).unwrap();
        assert_eq!(tag_at(granule(0)), [8, 4, 6][index]);
    });
}
