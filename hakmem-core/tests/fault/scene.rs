//! One run of a case: blocks with known content, and a plan for when calls to the system fail.

use crate::common::held::{Held, check_zero};
use hakmem_core::api;
use hakmem_core::os::fault;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

pub const KIB: usize = 1 << 10;
pub const MIB: usize = 1 << 20;

/// What happens at the n-th call.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    Never,
    /// It fails.
    Once,
    /// It and all that follow fail.
    FromThenOn,
    /// A signal handler comes before it that allocates and frees.
    Handler,
    /// Another thread comes before it that does the same as this one; then all further calls fail.
    Race,
}

pub const WAYS: [Way; 4] = [Way::Once, Way::FromThenOn, Way::Handler, Way::Race];

/// One run of a case.
pub struct Scene {
    pub way: Way,
    pub n: u64,
    pub held: Vec<Held>,
}

impl Default for Scene {
    fn default() -> Scene {
        Scene {
            way: Way::Never,
            n: 0,
            held: vec![],
        }
    }
}

fn errno() -> &'static mut i32 {
    // SAFETY: the location is the calling thread's, and no reference to it is kept.
    unsafe { &mut *libc::__errno_location() }
}

impl Scene {
    /// From here on calls may fail.
    pub fn begin(&self) {
        match self.way {
            Way::Never => {}
            Way::Once => fault::fail_nth(self.n, false),
            Way::FromThenOn => fault::fail_nth(self.n, true),
            Way::Handler => fault::interrupt_nth(self.n, handler),
            Way::Race => fault::interrupt_nth(self.n, race),
        }
    }

    /// Runs an allocation: null if and only if errno says ENOMEM, where errno is to be set at all.
    fn allocate(&mut self, size: usize, sets_errno: bool, f: impl FnOnce() -> *mut u8) -> *mut u8 {
        *errno() = 0;
        let at = f();
        let expected = if at.is_null() && sets_errno {
            libc::ENOMEM
        } else {
            0
        };
        assert_eq!(*errno(), expected);
        if !at.is_null() {
            // SAFETY: the block is ours.
            assert!(unsafe { api::usable_size(at) } >= size);
        }
        at
    }

    fn keep(&mut self, at: *mut u8, size: usize) {
        if !at.is_null() {
            self.held.push(Held::new(at, size, size as u8 ^ 0x5a));
        }
    }

    pub fn malloc(&mut self, size: usize) {
        let at = self.allocate(size, true, || api::malloc(size));
        self.keep(at, size);
    }

    pub fn calloc(&mut self, size: usize) {
        let at = self.allocate(size, true, || api::calloc(size, 1));
        if !at.is_null() {
            check_zero(at, size);
        }
        self.keep(at, size);
    }

    pub fn aligned(&mut self, align: usize, size: usize) {
        let at = self.allocate(size, false, || api::aligned_noerrno(align, size));
        assert_eq!(at as usize % align, 0);
        self.keep(at, size);
    }

    pub fn slab_block(&mut self, size: usize) {
        let at = self.allocate(size, false, || api::take_from_slab(size));
        self.keep(at, size);
    }

    /// Changes the size of the last block.
    pub fn realloc(&mut self, size: usize) {
        let held = self.held.pop().expect("a block");
        // SAFETY: the block is ours.
        let at = self.allocate(size, true, || unsafe { api::realloc(held.ptr(), size) });
        match at.is_null() {
            true => {
                assert!(size > held.size, "shrinking does not fail");
                self.held.push(held);
            }
            false => self.held.push(held.moved(at, size, 0x77)),
        }
    }

    /// Frees the last block.
    pub fn free(&mut self) {
        let held = self.held.pop().expect("a block");
        *errno() = libc::EBADF;
        held.free();
        assert_eq!(*errno(), libc::EBADF, "free keeps errno");
    }

    pub fn free_all(&mut self) {
        while !self.held.is_empty() {
            self.free();
        }
    }

    /// Lets another thread act, and takes over its blocks when it is gone.
    pub fn in_a_thread(&mut self, act: impl FnOnce(&mut Scene) + Send) {
        let mut theirs = Scene::default();
        thread::scope(|scope| {
            // Joined, because the scope alone does not wait for the thread's own end.
            scope.spawn(|| act(&mut theirs)).join().expect("an act");
        });
        self.held.append(&mut theirs.held);
    }

    /// One block of each kind, gone again.
    pub fn everything_works(&mut self) {
        let kept = self.held.len();
        self.malloc(100);
        self.realloc(5000);
        self.calloc(300 * KIB);
        self.aligned(4096, 100);
        self.aligned(4 * MIB, 3 * MIB);
        self.slab_block(1000);
        self.malloc(5 * MIB);
        self.realloc(9 * MIB);
        self.realloc(2 * MIB);
        assert_eq!(self.held.len(), kept + 6, "with memory, nothing fails");
        while self.held.len() > kept {
            self.free();
        }
    }
}

/// A block that a handler leaves to the rest of its program.
pub static LEFT: AtomicUsize = AtomicUsize::new(0);

fn handler() {
    let saved = *errno();
    let mut scene = Scene::default();
    scene.everything_works();
    let left = api::malloc(3 * KIB);
    assert!(!left.is_null());
    LEFT.store(left as usize, Relaxed);
    *errno() = saved;
}

fn race() {
    handler();
    fault::fail_nth(0, true);
}
