//! Huge blocks: the claim that decides a double free, and the slots of the cache: `segment::huge`.

use crate::program::Block;
use hakmem_models::base::size_class::GRANULE;
use hakmem_models::segment::{huge, page_map};
use hakmem_models::{model, os};

const OWNER: u32 = 2;
const LEN: usize = GRANULE;

fn alloc(len: usize) -> Block {
    let block = huge::alloc(len, GRANULE, false, OWNER).expect("the arena has room");
    os::hold(block.base, len);
    Block(block.base)
}

fn free(block: Block) -> bool {
    huge::free(block.0, false)
}

/// A block that was freed and is in the cache.
fn cached() -> Block {
    let block = alloc(LEN);
    os::let_go(block.0);
    assert!(free(block));
    assert_eq!(huge::stats().2, LEN);
    block
}

/// Makes the model deterministic; with `keep`, so much is in use that two freed blocks may stay mapped.
fn begin(keep: bool) {
    model::heap(OWNER);
    huge::forget_bound();
    if keep {
        alloc(32 * LEN);
    }
}

/// Two free the same block, with and without a place in the cache: one wins, and the sums are right.
#[test]
fn one_of_two_frees_wins() {
    for keep in [false, true] {
        model::check(3, move || {
            begin(keep);
            let (live, ..) = huge::stats();
            let block = alloc(LEN);
            os::let_go(block.0);
            let other = model::spawn(move || free(block));
            let mine = free(block);
            let theirs = other.join().unwrap();
            assert!(mine ^ theirs, "mine {mine} theirs {theirs}");
            assert_eq!(
                huge::stats(),
                (live, keep as usize, if keep { LEN } else { 0 })
            );
            assert!(!free(block), "a third free");
        });
    }
}

/// A thread asks about a block that others free: it gets an answer, or none, but never follows what is not a record.
#[test]
fn bounds_of_a_block_that_goes() {
    model::check(3, || {
        begin(false);
        let block = alloc(LEN);
        os::let_go(block.0);
        let freer = model::spawn(move || free(block));
        // For a message only, so a record that is free already may answer; what counts is that there is one.
        let _ = huge::bounds(block.0);
        assert!(freer.join().unwrap());
        assert_eq!(huge::bounds(block.0), None);
        assert_eq!(huge::released(block.0), LEN);
    });
}

/// A cached block is looked for by one thread, which frees it again, while another one empties the slots: it has one
/// owner at any moment, and nothing is left over.
#[test]
fn a_cached_block_is_taken_while_the_slots_are_emptied() {
    model::check(2, || {
        begin(true);
        let (live, count, _) = huge::stats();
        let block = cached();
        let other = model::spawn(|| {
            let block = alloc(LEN);
            os::let_go(block.0);
            assert!(free(block));
        });
        huge::purge_all();
        other.join().unwrap();
        huge::purge_all();
        assert_eq!(huge::stats(), (live, count, 0));
        assert_eq!(page_map::tag_at(block.0), page_map::Kind::Released as u32);
    });
}

/// Two look for a block when one is cached: one of them gets it, the other one a new one.
#[test]
fn a_cached_block_has_one_taker() {
    model::check(2, || {
        begin(true);
        let (live, count, _) = huge::stats();
        let block = cached();
        // Panics when both hold the same.
        let other = model::spawn(|| alloc(LEN));
        let mine = alloc(LEN);
        let theirs = other.join().unwrap();
        assert!([mine, theirs].contains(&block));
        assert_eq!(huge::stats(), (live + 2 * LEN, count + 2, 0));
    });
}

/// Two free a block each: both are kept, in a slot of their own.
#[test]
fn two_blocks_are_kept_at_once() {
    model::check(3, || {
        begin(true);
        let (live, count, _) = huge::stats();
        let (mine, theirs) = (alloc(LEN), alloc(LEN));
        os::let_go(mine.0);
        os::let_go(theirs.0);
        let other = model::spawn(move || assert!(free(theirs)));
        assert!(free(mine));
        other.join().unwrap();
        let (_, _, kept) = huge::stats();
        assert_eq!(huge::purge_all(), kept);
        assert_eq!(huge::stats(), (live, count, 0));
        for block in [mine, theirs] {
            assert_eq!(page_map::tag_at(block.0), page_map::Kind::Released as u32);
        }
    });
}
