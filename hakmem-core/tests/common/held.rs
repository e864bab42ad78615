//! Blocks with known content.

use hakmem_core::api;

/// A block and what must be in it.
#[derive(Debug)]
pub struct Held {
    pub at: usize,
    pub size: usize,
    seed: u8,
}

/// Bytes that are written and checked: all of a small block, the ends and a few in the middle of a large one.
pub fn probes(size: usize) -> impl Iterator<Item = usize> {
    let step = if size <= 2048 { 1 } else { 509 };
    (0..size).step_by(step).chain(size.checked_sub(1))
}

impl Held {
    /// Takes over a new block of at least `size` bytes and writes to it.
    pub fn new(at: *mut u8, size: usize, seed: u8) -> Held {
        let held = Held {
            at: at as usize,
            size,
            seed,
        };
        for i in probes(size) {
            // SAFETY: the block is at least `size` bytes long and ours.
            unsafe { at.add(i).write(seed ^ i as u8) };
        }
        held
    }

    pub fn ptr(&self) -> *mut u8 {
        self.at as *mut u8
    }

    /// The content as it must be, up to the byte `upto`.
    pub fn check(&self, upto: usize) {
        for i in probes(self.size).filter(|&i| i < upto) {
            // SAFETY: as in `new`.
            let byte = unsafe { self.ptr().add(i).read() };
            assert_eq!(
                byte,
                self.seed ^ i as u8,
                "block of {} at byte {i}",
                self.size
            );
        }
    }

    /// The block after a realloc to `size` bytes, with the content kept and then written anew.
    pub fn moved(&self, at: *mut u8, size: usize, seed: u8) -> Held {
        Held {
            at: at as usize,
            ..*self
        }
        .check(size);
        Held::new(at, size, seed)
    }

    pub fn free(self) {
        self.check(usize::MAX);
        // SAFETY: the block is ours and given up.
        unsafe { api::free(self.ptr()) };
    }
}

/// Asserts that a block reads as zero.
pub fn check_zero(at: *const u8, size: usize) {
    assert!(!at.is_null());
    for i in probes(size) {
        // SAFETY: the caller has the block, and it is at least this long.
        let byte = unsafe { at.add(i).read() };
        assert_eq!(byte, 0, "block of {size} at byte {i}");
    }
}
