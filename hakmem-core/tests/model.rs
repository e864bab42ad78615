//! Random operations against a shadow heap: contents, alignment, overlap, zeroing, usable sizes; one and several
//! threads, with blocks that change hands and threads that end.

mod common;

use common::held::{Held, check_zero};
use hakmem_core::{api, observe};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Mostly small, sometimes at a class edge, sometimes huge.
    fn size(&mut self) -> usize {
        match self.below(100) {
            0..60 => self.below(1100),
            60..85 => self.below(40_000),
            85..95 => {
                let edge = 1usize << (4 + self.below(17));
                (edge + self.below(3)).saturating_sub(1)
            }
            95..99 => self.below(1_200_000),
            _ => 1_000_000 + self.below(4_000_000),
        }
    }
}

fn allocate(rng: &mut Rng) -> Held {
    let size = rng.size();
    let seed = rng.next() as u8;
    let (at, align) = match rng.below(10) {
        0 | 1 => {
            let at = api::calloc(1, size);
            check_zero(at, size);
            (at, 16)
        }
        2 => {
            let align = 1 << rng.below(if size < 5000 { 18 } else { 14 });
            (api::aligned_noerrno(align, size), align.max(16))
        }
        _ => (api::malloc(size), 16),
    };
    assert!(!at.is_null());
    assert_eq!(at as usize % align, 0, "size {size} align {align}");
    // SAFETY: the block is ours.
    assert!(unsafe { api::usable_size(at) } >= size);
    Held::new(at, size, seed)
}

fn reallocate(rng: &mut Rng, held: &mut Held) {
    let size = rng.size().max(1);
    // SAFETY: the block is ours; afterwards the new one is.
    let at = unsafe { api::realloc(held.ptr(), size) };
    assert!(!at.is_null());
    *held = held.moved(at, size, rng.next() as u8);
}

/// All blocks of all threads, to see that no two overlap.
static MAP: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn note(held: &Held) {
    let mut map = MAP.lock().unwrap();
    let end = held.at + held.size.max(1);
    if let Some((&at, &other_end)) = map.range(..end).next_back() {
        assert!(
            other_end <= held.at,
            "{:#x}..{end:#x} overlaps {at:#x}..{other_end:#x}",
            held.at
        );
    }
    map.insert(held.at, end);
}

fn forget(held: &Held) {
    assert!(MAP.lock().unwrap().remove(&held.at).is_some());
}

/// One thread's life: allocate, reallocate, free, and trade blocks with others.
fn live(seed: u64, steps: usize, give: Sender<Held>, take: &Mutex<Receiver<Held>>) {
    let mut rng = Rng(seed);
    let mut held: Vec<Held> = vec![];
    for _ in 0..steps {
        let target = 40 + rng.below(60);
        match rng.below(100) {
            _ if held.len() < target / 2 => {
                let block = allocate(&mut rng);
                note(&block);
                held.push(block);
            }
            0..45 => {
                let block = allocate(&mut rng);
                note(&block);
                held.push(block);
            }
            45..60 => {
                let i = rng.below(held.len());
                forget(&held[i]);
                reallocate(&mut rng, &mut held[i]);
                note(&held[i]);
            }
            60..70 => {
                let i = rng.below(held.len());
                let _ = give.send(held.swap_remove(i));
            }
            70..80 => {
                if let Ok(block) = take.lock().unwrap().try_recv() {
                    block.check(usize::MAX);
                    held.push(block);
                }
            }
            _ => {
                let i = rng.below(held.len());
                let block = held.swap_remove(i);
                forget(&block);
                block.free();
            }
        }
        if held.len() > 200 {
            for block in held.drain(100..) {
                forget(&block);
                block.free();
            }
        }
    }
    // Half dies with the thread's own hands, half outlives it.
    for (i, block) in held.into_iter().enumerate() {
        if i % 2 == 0 {
            forget(&block);
            block.free();
        } else {
            let _ = give.send(block);
        }
    }
}

fn run(threads: u64, generations: u64, steps: usize) {
    let _alone = common::alone();
    let (give, take) = mpsc::channel();
    let take = Mutex::new(take);
    for generation in 0..generations {
        std::thread::scope(|scope| {
            for t in 0..threads {
                let (give, take) = (give.clone(), &take);
                let seed = 0x9e37_79b9_7f4a_7c15 ^ ((generation << 32) | ((t + 1) * 7919));
                scope.spawn(move || live(seed, steps, give, take));
            }
        });
        observe::check().expect("invariants hold between generations");
    }
    drop(give);
    for block in take.into_inner().unwrap() {
        forget(&block);
        block.free();
    }
    assert!(MAP.lock().unwrap().is_empty());
    observe::check().expect("invariants hold at the end");
    api::trim(0);
    observe::check().expect("invariants hold after a trim");
    let snapshot = observe::snapshot();
    assert_eq!(snapshot.live, 0, "every block came home");
    assert_eq!(snapshot.huge_live, 0);
}

#[test]
fn one_thread() {
    run(1, 1, 60_000);
}

#[test]
fn several_threads_that_trade_and_end() {
    run(4, 5, 6_000);
}

#[test]
fn many_short_threads() {
    run(8, 20, 200);
}
