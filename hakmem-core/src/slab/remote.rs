//! Remote free: how a block comes home that another thread freed.
//!
//! A slab has one bit per block for this. The thread that frees sets the block's bit; if the slab was clean, it also
//! puts the slab on the stack of its owner, who takes the whole stack when it next runs a cold path.
//!
//! State of a slab's remote side, by `summary` (one bit per word of the bitmap):
//!
//! | summary | meaning |
//! |---|---|
//! | 0 | clean: on no stack |
//! | not 0 | dirty: exactly one party has the duty to drain it: a stack that holds it, or whoever took it from there |
//!
//! Freer: set the bit, *then* look at the summary. Drainer: clear the summary, *then* take the bits. So a bit that the
//! drainer misses was set after its word was taken, hence after the summary was cleared, and its freer sees that and
//! announces the slab again. Both sides touch the bit's word by a read-modify-write, whose order carries the proof.

use crate::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};
use core::ptr::null_mut;

/// What setting a bit told.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Freed {
    /// Recorded; somebody already has the duty to drain.
    Recorded,
    /// Recorded; the caller must put the slab on its owner's stack.
    Announce,
    /// The bit was set: the block is free already.
    Twice,
}

/// Records that block `index` was freed. `words` is the slab's remote bitmap.
#[inline]
pub fn free(words: &[AtomicU64], summary: &AtomicU64, index: usize) -> Freed {
    let (word, bit) = (index / 64, 1u64 << (index % 64));
    if words[word].fetch_or(bit, AcqRel) & bit != 0 {
        return Freed::Twice;
    }
    announce(summary, word)
}

/// The second half of a remote free.
#[inline]
fn announce(summary: &AtomicU64, word: usize) -> Freed {
    let bit = 1u64 << word;
    if summary.load(Acquire) & bit != 0 || summary.fetch_or(bit, AcqRel) != 0 {
        Freed::Recorded
    } else {
        Freed::Announce
    }
}

/// Takes all recorded frees: `each(word index, bits)`. Only for the party that has the duty to drain.
pub fn drain(words: &[AtomicU64], summary: &AtomicU64, mut each: impl FnMut(usize, u64)) {
    let mut dirty = summary.swap(0, AcqRel);
    while dirty != 0 {
        let word = dirty.trailing_zeros() as usize;
        dirty &= dirty - 1;
        // A late announcer may speak of a word that the record had as a slab of another class.
        let Some(word_bits) = words.get(word) else {
            continue;
        };
        let bits = word_bits.swap(0, AcqRel);
        if bits != 0 {
            each(word, bits);
        }
    }
}

/// Anything that can be on a [`DirtyStack`].
///
/// # Safety
/// `next` always returns the same link of the same live record.
pub unsafe trait Stacked: Sized {
    fn next(&self) -> &AtomicPtr<Self>;
    /// Written by the pusher: the weight of this item and all below.
    fn depth(&self) -> &crate::sync::atomic::AtomicU32;
}

/// A stack that anybody pushes onto and whose whole content is taken at once, so that there is no ABA.
pub struct DirtyStack<T> {
    top: AtomicPtr<T>,
}

#[expect(clippy::new_without_default, reason = "only ever made in statics")]
impl<T: Stacked> DirtyStack<T> {
    pub const fn new() -> Self {
        DirtyStack {
            top: AtomicPtr::new(null_mut()),
        }
    }

    /// Pushes `item`; returns the weight of all items on the stack, as far as the pushers knew.
    ///
    /// # Safety
    /// `item` is a record that is never unmapped, and the caller has the duty to drain it.
    pub unsafe fn push(&self, item: *mut T, weight: u32) -> u32 {
        let mut top = self.top.load(Relaxed);
        loop {
            // SAFETY: INV-RECORD: records are never unmapped. The depth of one that was popped meanwhile is unused, as
            // the exchange below then fails; if it was pushed again too, the depth is too high, which costs early help.
            let depth = unsafe {
                let below = if top.is_null() {
                    0
                } else {
                    (*top).depth().load(Relaxed)
                };
                (*item).next().store(top, Relaxed);
                let depth = below.saturating_add(weight);
                (*item).depth().store(depth, Relaxed);
                depth
            };
            match self.top.compare_exchange_weak(top, item, AcqRel, Relaxed) {
                Ok(_) => return depth,
                Err(now) => top = now,
            }
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.top.load(Relaxed).is_null()
    }

    /// Takes everything: the first item, from which `next` leads to the rest. The taker gets the duty to drain each.
    pub fn take_all(&self) -> *mut T {
        self.top.swap(null_mut(), AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::atomic::AtomicU32;

    #[test]
    fn first_free_announces_and_a_second_one_of_a_block_is_seen() {
        let words = [const { AtomicU64::new(0) }; 3];
        let summary = AtomicU64::new(0);
        assert_eq!(free(&words, &summary, 130), Freed::Announce);
        assert_eq!(free(&words, &summary, 131), Freed::Recorded);
        assert_eq!(free(&words, &summary, 5), Freed::Recorded);
        assert_eq!(free(&words, &summary, 131), Freed::Twice);
        let mut seen = vec![];
        drain(&words, &summary, |word, bits| seen.push((word, bits)));
        assert_eq!(seen, [(0, 1 << 5), (2, 0b1100)]);
        assert_eq!(free(&words, &summary, 131), Freed::Announce);
    }

    struct Item {
        next: AtomicPtr<Item>,
        depth: AtomicU32,
    }

    // SAFETY: returns its own fields.
    unsafe impl Stacked for Item {
        fn next(&self) -> &AtomicPtr<Self> {
            &self.next
        }
        fn depth(&self) -> &AtomicU32 {
            &self.depth
        }
    }

    /// A freer that comes late may still announce a word that the record had in an earlier life, as a slab of smaller
    /// blocks.
    #[test]
    fn a_word_of_an_earlier_life_is_passed_over() {
        let words = [const { AtomicU64::new(0) }; 1];
        let summary = AtomicU64::new(0);
        assert_eq!(announce(&summary, 63), Freed::Announce);
        assert_eq!(free(&words, &summary, 7), Freed::Recorded);
        let mut seen = vec![];
        drain(&words, &summary, |word, bits| seen.push((word, bits)));
        assert_eq!(seen, [(0, 1 << 7)]);
        assert_eq!(summary.load(Relaxed), 0);
    }

    #[test]
    fn stack_returns_all_and_counts() {
        let items: Vec<_> = (0..3)
            .map(|_| Item {
                next: AtomicPtr::new(null_mut()),
                depth: AtomicU32::new(0),
            })
            .collect();
        let at = |i: usize| (&raw const items[i]).cast_mut();
        let stack = DirtyStack::new();
        assert!(stack.is_empty());
        for i in 0..3 {
            // SAFETY: the items outlive the stack.
            assert_eq!(unsafe { stack.push(at(i), 2) }, 2 * (i as u32 + 1));
        }
        let mut item = stack.take_all();
        assert!(stack.is_empty());
        for i in [2, 1, 0] {
            assert_eq!(item, at(i));
            // SAFETY: as above.
            item = unsafe { (*item).next.load(Relaxed) };
        }
        assert!(item.is_null());
    }

    /// Threads free every block of a slab once while another drains: each block comes home exactly once.
    #[test]
    fn nothing_is_lost_or_doubled_under_contention() {
        use std::sync::atomic::AtomicBool;
        const WORDS: usize = 4;
        let words = [const { AtomicU64::new(0) }; WORDS];
        let summary = AtomicU64::new(0);
        let announced = AtomicU32::new(0);
        let done = AtomicBool::new(false);
        let mut home = [0u64; WORDS];
        std::thread::scope(|scope| {
            let freers: Vec<_> = (0..2)
                .map(|t| {
                    let (words, summary, announced) = (&words, &summary, &announced);
                    scope.spawn(move || {
                        for index in (t..WORDS * 64).step_by(2) {
                            if free(words, summary, index) == Freed::Announce {
                                assert_eq!(announced.fetch_add(1, SeqCst), 0, "one duty at a time");
                            }
                        }
                    })
                })
                .collect();
            let drainer = scope.spawn(|| {
                loop {
                    let last = done.load(SeqCst);
                    if announced.load(SeqCst) == 1 {
                        announced.store(0, SeqCst);
                        drain(&words, &summary, |word, bits| {
                            assert_eq!(home[word] & bits, 0);
                            home[word] |= bits;
                        });
                    }
                    if last {
                        break;
                    }
                }
            });
            freers.into_iter().for_each(|t| t.join().unwrap());
            done.store(true, SeqCst);
            drainer.join().unwrap();
        });
        assert_eq!(home, [u64::MAX; WORDS]);
    }
}
