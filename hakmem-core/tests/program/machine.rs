//! Decodes operations and does them.

use super::Bytes;
use super::shadow::{Held, Release, Shadow};
use hakmem_core::front::{self, Entry};
use hakmem_core::{api, observe};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Blocks that a program can hold at a time.
const SLOTS: usize = 256;
/// Bytes that it can hold in large blocks.
const MOST_LARGE: usize = 64 << 20;
/// Processes that it can fork.
const FORKS: u32 = 2;

/// What the program does after a piece of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    Go,
    /// Another thread goes on.
    Switch(usize),
    /// The thread ends.
    Exit,
    /// There are no more bytes.
    End,
}

pub struct Machine<'a> {
    shadow: &'a Shadow,
    slots: Vec<Option<(Held, Release)>>,
    large: usize,
    forks: u32,
    operations: u64,
}

/// Mostly small, sometimes at the edge of a class, rarely huge.
fn size(bytes: &mut Bytes<'_>) -> usize {
    let (kind, n) = (bytes.more(), bytes.more() << 8 | bytes.more());
    match kind {
        0..160 => n % 1100,
        160..215 => n / 2,
        215..245 => ((1usize << (4 + n % 17)) + n / 17 % 3).saturating_sub(1),
        245..254 => n * 19,
        _ => (1 << 20) + n * 64,
    }
}

impl<'a> Machine<'a> {
    pub fn new(shadow: &'a Shadow, forks: bool) -> Machine<'a> {
        Machine {
            shadow,
            slots: (0..SLOTS).map(|_| None).collect(),
            large: 0,
            forks: if forks { FORKS } else { 0 },
            operations: 0,
        }
    }

    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Runs the calling thread's piece of the program.
    pub fn run(&mut self, bytes: &mut Bytes<'_>) -> Flow {
        loop {
            let Some(code) = bytes.byte() else {
                return Flow::End;
            };
            match self.step(code, bytes) {
                Flow::Go => {}
                flow => return flow,
            }
        }
    }

    fn step(&mut self, code: usize, bytes: &mut Bytes<'_>) -> Flow {
        match code {
            0..80 => self.fill(bytes),
            80..110 => self.resize(bytes),
            110..180 => self.free(bytes),
            180..190 => self.fill_many(bytes),
            190..200 => self.free_many(bytes),
            200..220 => self.give(bytes),
            220..240 => self.take(bytes),
            240..246 => return Flow::Switch(bytes.more()),
            246 => return Flow::Exit,
            247..252 => self.interrupted(bytes),
            252 => assert_eq!(observe::check(), Ok(())),
            253 => _ = api::trim(0),
            254 => _ = observe::snapshot(),
            _ => self.fork(),
        }
        Flow::Go
    }

    fn put(&mut self, slot: usize, held: Held, release: Release) {
        self.empty(slot);
        self.large += if held.size > 1 << 16 { held.size } else { 0 };
        self.slots[slot] = Some((held, release));
    }

    fn lift(&mut self, slot: usize) -> Option<(Held, Release)> {
        let taken = self.slots[slot].take()?;
        self.large -= if taken.0.size > 1 << 16 {
            taken.0.size
        } else {
            0
        };
        Some(taken)
    }

    fn empty(&mut self, slot: usize) {
        if let Some((held, release)) = self.lift(slot) {
            self.operations += 1;
            self.shadow.free(held, release);
        }
    }

    fn fill(&mut self, bytes: &mut Bytes<'_>) {
        let (slot, form) = (bytes.more(), bytes.more());
        let size = size(bytes);
        self.allocate(slot, form, size);
    }

    fn allocate(&mut self, slot: usize, form: usize, size: usize) {
        if size > 1 << 16 && self.large + size > MOST_LARGE {
            return;
        }
        self.operations += 1;
        let plain = Release::Plain;
        let (at, align, release) = match form {
            0..40 => (api::calloc(1, size), 16, plain),
            40..60 => {
                let align = 1 << (form - 40).min(if size < 1 << 20 { 16 } else { 22 });
                let at = api::aligned_noerrno(align, size);
                (at, align.max(16), Release::Aligned(align))
            }
            60..70 if size <= api::TINY_MAX => (api::take_from_slab(size), 16, plain),
            70..90 => (api::malloc_noerrno(size), 16, Release::Sized),
            _ => (api::malloc(size), 16, plain),
        };
        let held = self
            .shadow
            .admit(at, size, align, (slot ^ form) as u8, form < 40);
        self.put(slot, held, release);
    }

    fn resize(&mut self, bytes: &mut Bytes<'_>) {
        let slot = bytes.more();
        let size = size(bytes).max(1);
        if size > 1 << 16 && self.large + size > MOST_LARGE {
            return;
        }
        if let Some((held, _)) = self.lift(slot) {
            self.operations += 1;
            let held = self.shadow.resize(held, size, !slot as u8);
            self.put(slot, held, Release::Plain);
        }
    }

    fn free(&mut self, bytes: &mut Bytes<'_>) {
        self.empty(bytes.more());
    }

    /// Blocks of one size: more than a cache holds.
    fn fill_many(&mut self, bytes: &mut Bytes<'_>) {
        let (first, count) = (bytes.more(), bytes.more());
        let size = size(bytes).min(40_000);
        (first..first + count).for_each(|slot| self.allocate(slot % SLOTS, 255, size));
    }

    /// Every n-th block of a range.
    fn free_many(&mut self, bytes: &mut Bytes<'_>) {
        let (first, count, step) = (bytes.more(), bytes.more(), bytes.more() % 8 + 1);
        (first..first + count)
            .step_by(step)
            .for_each(|slot| self.empty(slot % SLOTS));
    }

    fn give(&mut self, bytes: &mut Bytes<'_>) {
        if let Some((held, _)) = self.lift(bytes.more()) {
            self.shadow.hand_out(held);
        }
    }

    fn take(&mut self, bytes: &mut Bytes<'_>) {
        let slot = bytes.more();
        if let Some(held) = self.shadow.take_over() {
            self.put(slot, held, Release::Plain);
        }
    }

    /// One operation as a signal handler that interrupted the allocator would do it.
    fn interrupted(&mut self, bytes: &mut Bytes<'_>) {
        let inside = front::enter(Entry::Malloc);
        assert!(inside.is_some());
        match bytes.more() {
            0..100 => self.fill(bytes),
            100..150 => self.resize(bytes),
            _ => self.free(bytes),
        }
        drop(inside);
    }

    /// A child finds everything as it was, and can use it.
    fn fork(&mut self) {
        if self.forks == 0 {
            return;
        }
        self.forks -= 1;
        // SAFETY: the child checks, frees and leaves.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let whole = catch_unwind(AssertUnwindSafe(|| {
                self.free_all();
                (0..SLOTS).for_each(|slot| self.allocate(slot, 255, slot * 37));
                self.free_all();
                assert_eq!(observe::check(), Ok(()));
            }));
            // SAFETY: ends the process without handlers that belong to the parent.
            unsafe { libc::_exit(whole.is_err() as i32) };
        }
        let mut status = 0;
        // SAFETY: the child is ours.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "a forked child has failed");
    }

    pub fn free_all(&mut self) {
        (0..SLOTS).for_each(|slot| self.empty(slot));
    }
}
