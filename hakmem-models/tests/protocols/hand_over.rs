//! Slabs that change their owner while others free their blocks: `slab::announce`, `Slab::move_to`,
//! `LockedHeap::{hand_over, drain}`, `heap::orphans`.

use crate::program::*;
use hakmem_models::heap::{Heap, ORPHANS, finish_orphans};
use hakmem_models::model;

fn hand_over(from: &'static Heap, to: &'static Heap) {
    let (mut from, mut to) = (from.lock(), to.lock());
    from.hand_over(&mut to);
    assert_eq!(to.unlock(), None);
    assert_eq!(from.unlock(), None);
}

/// A thread frees a block while the slab moves: the block comes home to the new owner, whichever stack it went through.
#[test]
fn a_free_finds_the_new_owner() {
    model::check(3, || {
        let (old, new) = (model::heap(2), model::heap(3));
        let (block, kept) = (take(old, FEW), take(old, FEW));
        let freer = model::spawn(move || free_remotely(block));
        hand_over(old, new);
        freer.join().unwrap();
        // The old owner is gone: only the new one looks.
        drain(new);
        assert_holds(old, FEW, 0);
        assert_holds(new, FEW, 1);
        free_remotely(kept);
        drain(new);
        assert_holds(new, FEW, 0);
    });
}

/// Two threads free while the slab moves and the old owner's stack is being emptied.
#[test]
fn two_frees_and_an_owner_that_drains_before_it_goes() {
    model::check(1, || {
        let (old, new) = (model::heap(2), model::heap(3));
        let blocks = [take(old, FEW), take(old, FEW)];
        let kept = take(old, FEW);
        let freers = blocks.map(|block| model::spawn(move || free_remotely(block)));
        drain(old);
        hand_over(old, new);
        freers.into_iter().for_each(|t| t.join().unwrap());
        drain(new);
        assert_holds(old, FEW, 0);
        assert_holds(new, FEW, 1);
        free_remotely(kept);
        drain(new);
        assert_holds(new, FEW, 0);
    });
}

/// A dead thread's slab is adopted by another heap while a block of it is freed.
#[test]
fn an_orphan_is_adopted_while_a_block_is_freed() {
    model::check(2, || {
        let (dead, adopter) = (model::heap(2), model::heap(3));
        let (block, kept) = (take(dead, FEW), take(dead, FEW));
        let freer = model::spawn(move || free_remotely(block));
        let (mut from, mut orphans) = (dead.lock(), ORPHANS.lock());
        from.hand_over(&mut orphans);
        assert_eq!(finish_orphans(orphans), None);
        assert_eq!(from.unlock(), None);
        let adopted = take(adopter, FEW);
        freer.join().unwrap();
        drain(adopter);
        assert_holds(&ORPHANS, FEW, 0);
        assert_holds(adopter, FEW, 2);
        [kept, adopted].into_iter().for_each(free_remotely);
        drain(adopter);
        assert_holds(adopter, FEW, 0);
    });
}

/// A block that is a slab of its own is freed while the slab is handed over: the freer helps whoever is the owner, so
/// the slab goes even though nobody else drains.
#[test]
fn a_freer_helps_the_owner_of_the_moment() {
    model::check(2, || {
        let (old, new) = (model::heap(2), model::heap(3));
        let block = take(old, ONE);
        let freer = model::spawn(move || free_remotely(block));
        hand_over(old, new);
        freer.join().unwrap();
        // If the freer found the lock taken, the holder was about to leave: the announcement is there for the next.
        drain(new);
        assert_holds(old, ONE, 0);
        assert_holds(new, ONE, 0);
    });
}
