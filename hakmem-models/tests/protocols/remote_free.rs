//! Remote free against the owner's drain: `slab::remote`.

use hakmem_models::atomic::{AtomicU32, AtomicU64, Ordering::*};
use hakmem_models::model;
use hakmem_models::slab::remote::{self, Freed};
use loom::sync::Arc;

/// A slab's remote side, and the duty to drain it as a counter.
#[derive(Clone)]
struct Side(Arc<Fields>);

struct Fields {
    words: [AtomicU64; 2],
    summary: AtomicU64,
    duties: AtomicU32,
}

impl Side {
    fn new() -> Side {
        Side(Arc::new(Fields {
            words: [const { AtomicU64::new(0) }; 2],
            summary: AtomicU64::new(0),
            duties: AtomicU32::new(0),
        }))
    }

    fn free(&self, index: usize) -> Freed {
        let freed = remote::free(&self.0.words, &self.0.summary, index);
        if freed == Freed::Announce {
            assert_eq!(self.0.duties.fetch_add(1, AcqRel), 0, "two have the duty");
        }
        freed
    }

    /// Drains if somebody announced; returns what came home.
    fn drain(&self) -> Vec<usize> {
        let mut home = vec![];
        if self.0.duties.swap(0, AcqRel) == 1 {
            remote::drain(&self.0.words, &self.0.summary, |word, bits| {
                home.extend(
                    (0..64)
                        .filter(|bit| bits >> bit & 1 == 1)
                        .map(|bit| word * 64 + bit),
                );
            });
        }
        home
    }
}

/// Two threads free three blocks in two words while the owner drains: each block comes home exactly once.
#[test]
fn nothing_is_lost_or_doubled() {
    model::check(3, || {
        let side = Side::new();
        let freers = [vec![1, 65], vec![2]].map(|blocks| {
            let side = side.clone();
            model::spawn(move || {
                for block in blocks {
                    assert_ne!(side.free(block), Freed::Twice);
                }
            })
        });
        let mut home = side.drain();
        freers.into_iter().for_each(|t| t.join().unwrap());
        home.extend(side.drain());
        home.sort();
        assert_eq!(home, [1, 2, 65]);
        assert_eq!(side.0.summary.load(Relaxed), 0);
    });
}

/// Two threads free the same block: one of them is told.
#[test]
fn a_double_free_is_seen_by_exactly_one() {
    model::check(3, || {
        let side = Side::new();
        let other = {
            let side = side.clone();
            model::spawn(move || side.free(7))
        };
        let mine = side.free(7);
        let theirs = other.join().unwrap();
        assert_eq!(
            [mine, theirs]
                .iter()
                .filter(|&&freed| freed == Freed::Twice)
                .count(),
            1
        );
        assert_eq!(side.drain(), [7]);
    });
}
