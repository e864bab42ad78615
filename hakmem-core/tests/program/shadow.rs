//! What must be where: the content of each block, and that no two overlap.

use hakmem_core::api;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// A block that the program holds, and what must be in it.
pub struct Held {
    at: usize,
    pub size: usize,
    seed: u8,
}

/// Bytes that are written and checked in a row at both ends of a block.
const END: usize = 256;
/// Beyond that, a word here and there.
const STEP: usize = 61 * 1024;
const WORD: usize = 8;

/// The offsets and lengths, up to a word, that are written and checked.
fn probes(size: usize) -> impl Iterator<Item = (usize, usize)> {
    let head = size.min(END);
    let tail = size.saturating_sub(END).max(head);
    let row = |from: usize, to: usize| {
        (from..to)
            .step_by(WORD)
            .map(move |at| (at, WORD.min(to - at)))
    };
    let middle = (head..tail.saturating_sub(WORD))
        .step_by(STEP)
        .map(|at| (at, WORD));
    row(0, head).chain(middle).chain(row(tail, size))
}

impl Held {
    fn ptr(&self) -> *mut u8 {
        self.at as *mut u8
    }

    /// What is at an offset.
    fn word(&self, at: usize) -> [u8; WORD] {
        ((self.seed as u64 * 0x0101_0101_0101_0101) ^ ((at as u64) << 3)).to_ne_bytes()
    }

    fn bytes(&self, at: usize, len: usize) -> &[u8] {
        assert!(at + len <= self.size);
        // SAFETY: the block is at least `size` bytes long, ours, and was written to or is zero.
        unsafe { std::slice::from_raw_parts(self.ptr().add(at), len) }
    }

    fn fill(&self) {
        for (at, len) in probes(self.size) {
            // SAFETY: the block is at least `size` bytes long and ours.
            unsafe {
                self.ptr()
                    .add(at)
                    .copy_from_nonoverlapping(self.word(at).as_ptr(), len)
            };
        }
    }

    /// The content is as it was written, up to the byte `upto`.
    pub fn check(&self, upto: usize) {
        for (at, len) in probes(self.size) {
            let len = len.min(upto.saturating_sub(at));
            assert_eq!(
                self.bytes(at, len),
                &self.word(at)[..len],
                "byte {at} of a block of {}",
                self.size
            );
        }
    }

    fn check_zero(&self) {
        for (at, len) in probes(self.size) {
            assert_eq!(
                self.bytes(at, len),
                &[0; WORD][..len],
                "byte {at} of {} from calloc",
                self.size
            );
        }
    }
}

/// How a block is given back.
#[derive(Clone, Copy)]
pub enum Release {
    Plain,
    Sized,
    /// As what aligned allocation asked for.
    Aligned(usize),
}

/// All blocks of all threads of a program.
#[derive(Default)]
pub struct Shadow {
    /// End of each block, by start.
    extents: Mutex<BTreeMap<usize, usize>>,
    /// Blocks that wait for another thread to take them.
    exchange: Mutex<Vec<Held>>,
}

impl Shadow {
    /// Takes note of a new block, checks all that can be, and fills it, also where only the usable size reaches.
    pub fn admit(&self, at: *mut u8, size: usize, align: usize, seed: u8, zero: bool) -> Held {
        assert!(!at.is_null(), "{size} bytes, aligned to {align}");
        assert!(
            (at as usize).is_multiple_of(align),
            "{at:p} is not aligned to {align}"
        );
        // SAFETY: the block is ours.
        let usable = unsafe { api::usable_size(at) };
        assert!(usable >= size, "{usable} of {size} bytes are usable");
        let held = Held {
            at: at as usize,
            size,
            seed,
        };
        self.enter(&held, usable);
        if zero {
            held.check_zero();
        }
        held.fill();
        if usable > size {
            // SAFETY: what is usable is the program's, to the last byte.
            unsafe { at.add(usable - 1).write(!seed) };
        }
        held
    }

    fn enter(&self, held: &Held, usable: usize) {
        let end = held.at + usable.max(1);
        let mut extents = self.extents.lock().expect("no panic yet");
        if let Some((&at, &other)) = extents.range(..end).next_back() {
            assert!(
                other <= held.at,
                "{:#x}..{end:#x} overlaps {at:#x}..{other:#x}",
                held.at
            );
        }
        extents.insert(held.at, end);
    }

    fn leave(&self, held: &Held) {
        let known = self.extents.lock().expect("no panic yet").remove(&held.at);
        // SAFETY: the block is still ours.
        let usable = unsafe { api::usable_size(held.ptr()) };
        assert_eq!(
            known,
            Some(held.at + usable.max(1)),
            "the usable size has changed"
        );
    }

    pub fn free(&self, held: Held, release: Release) {
        held.check(usize::MAX);
        self.leave(&held);
        // SAFETY: the block is ours and given up, with the size and alignment of its request.
        unsafe {
            match release {
                Release::Plain => api::free(held.ptr()),
                Release::Sized => api::free_sized(held.ptr(), held.size),
                Release::Aligned(align) => api::free_aligned_sized(held.ptr(), align, held.size),
            }
        }
    }

    pub fn resize(&self, held: Held, size: usize, seed: u8) -> Held {
        held.check(usize::MAX);
        self.leave(&held);
        // SAFETY: the block is ours; afterwards the new one is.
        let at = unsafe { api::realloc(held.ptr(), size) };
        assert!(!at.is_null(), "realloc of {} to {size} bytes", held.size);
        Held {
            at: at as usize,
            ..held
        }
        .check(size);
        self.admit(at, size, 16, seed, false)
    }

    pub fn hand_out(&self, held: Held) {
        self.exchange.lock().expect("no panic yet").push(held);
    }

    pub fn take_over(&self) -> Option<Held> {
        let held = self.exchange.lock().expect("no panic yet").pop()?;
        held.check(usize::MAX);
        Some(held)
    }

    pub fn free_exchanged(&self) {
        while let Some(held) = self.take_over() {
            self.free(held, Release::Plain);
        }
    }
}
