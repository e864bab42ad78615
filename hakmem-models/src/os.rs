//! The operating system: memory from an arena that begins afresh in every execution, and a futex made of loom's locks.
//!
//! What the kernel would punish is a panic here: giving back what is not mapped, purging what somebody holds.

#[path = "../../hakmem-core/src/os/thread_exit.rs"]
pub mod thread_exit;

use crate::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::sync::{Condvar, Mutex};
use loom::thread::{self, ThreadId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::ptr::NonNull;
use std::rc::Rc;

pub const MIN_PAGE: usize = 4096;
const ARENA: usize = 64 << 20;

#[derive(Default)]
struct Futex {
    bucket: Mutex<()>,
    sleepers: Condvar,
}

#[derive(Default)]
struct System {
    /// The start of the arena, and how much of it was given out.
    arena: usize,
    used: usize,
    mapped: Vec<Range<usize>>,
    purging: Vec<Range<usize>>,
    held: Vec<Range<usize>>,
    futexes: HashMap<usize, Rc<Futex>>,
    threads: Vec<ThreadId>,
    purges: usize,
}

thread_local! {
    static SYSTEM: RefCell<System> = RefCell::default();
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

fn range(at: *const u8, len: usize) -> Range<usize> {
    at.addr()..at.addr() + len
}

/// Begins an execution.
pub(crate) fn reset() {
    SYSTEM.with_borrow_mut(|system| {
        let arena = match system.arena {
            0 => new_arena(),
            arena => arena,
        };
        if system.used > 0 {
            // SAFETY: the arena is ours, and no execution uses it now.
            let answer = unsafe {
                system::madvise(
                    std::ptr::with_exposed_provenance_mut(arena),
                    system.used,
                    system::MADV_DONTNEED,
                )
            };
            assert_eq!(answer, 0);
        }
        *system = System {
            arena,
            ..System::default()
        };
    });
}

/// Aligned to its size, so that all of it lies in one leaf of the page map.
fn new_arena() -> usize {
    // SAFETY: a new mapping replaces none.
    let at = unsafe {
        system::mmap(
            std::ptr::null_mut(),
            2 * ARENA,
            system::PROT_READ | system::PROT_WRITE,
            system::MAP_PRIVATE | system::MAP_ANONYMOUS | system::MAP_NORESERVE,
            -1,
            0,
        )
    };
    assert_ne!(at, system::MAP_FAILED);
    at.expose_provenance().next_multiple_of(ARENA)
}

pub fn map(len: usize) -> Option<NonNull<u8>> {
    map_aligned(len, MIN_PAGE)
}

pub fn map_aligned(len: usize, align: usize) -> Option<NonNull<u8>> {
    SYSTEM.with_borrow_mut(|system| {
        let at = (system.arena + system.used).next_multiple_of(align);
        system.used = at + len - system.arena;
        assert!(system.used <= ARENA, "ARENA is too small");
        system.mapped.push(at..at + len);
        NonNull::new(std::ptr::with_exposed_provenance_mut(at))
    })
}

/// # Safety
/// The range is a whole mapping.
pub unsafe fn unmap(at: *mut u8, len: usize) -> bool {
    SYSTEM.with_borrow_mut(|system| {
        let range = range(at, len);
        let index = system.mapped.iter().position(|mapped| *mapped == range);
        system.mapped.swap_remove(index.expect("not mapped"));
        assert!(
            !system.held.iter().any(|held| overlap(held, &range)),
            "in use"
        );
    });
    true
}

/// # Safety
/// The content is given up.
pub unsafe fn purge(at: *mut u8, len: usize) -> bool {
    let range = range(at, len);
    SYSTEM.with_borrow_mut(|system| {
        assert!(
            !system.held.iter().any(|held| overlap(held, &range)),
            "in use"
        );
        system.purging.push(range.clone());
        system.purges += 1;
    });
    // Others run meanwhile.
    static CALL: AtomicUsize = AtomicUsize::new(0);
    CALL.fetch_add(1, Relaxed);
    SYSTEM.with_borrow_mut(|system| {
        assert!(
            !system.held.iter().any(|held| overlap(held, &range)),
            "in use"
        );
        system.purging.retain(|purging| *purging != range);
    });
    true
}

/// # Safety
/// As of the real one, which these models never get to.
pub unsafe fn remap_in_place(_: *mut u8, _: usize, _: usize) -> bool {
    false
}

pub fn reserve(_: usize, _: usize) -> Option<NonNull<u8>> {
    None
}

/// # Safety
/// As of the real one, which these models never get to.
pub unsafe fn remap_to(_: *mut u8, _: usize, _: *mut u8, _: usize) -> bool {
    false
}

/// Says that the program uses a range from now on; nobody else may.
pub fn hold(at: *const u8, len: usize) {
    SYSTEM.with_borrow_mut(|system| {
        let range = range(at, len);
        for others in [&system.held, &system.purging] {
            assert!(
                !others.iter().any(|other| overlap(other, &range)),
                "handed out in use"
            );
        }
        assert!(
            system.mapped.iter().any(|mapped| overlap(mapped, &range)),
            "handed out unmapped"
        );
        system.held.push(range);
    });
}

/// Ends [`hold`].
pub fn let_go(at: *const u8) {
    SYSTEM.with_borrow_mut(|system| {
        let index = system.held.iter().position(|held| held.start == at.addr());
        system.held.swap_remove(index.expect("not held"));
    });
}

/// Mappings that there are now.
pub fn mappings() -> usize {
    SYSTEM.with_borrow(|system| system.mapped.len())
}

/// Purges so far.
pub fn purges() -> usize {
    SYSTEM.with_borrow(|system| system.purges)
}

pub fn opaque_word(word: usize) -> usize {
    word
}

/// A number of the calling thread, aligned as a pointer to its control block is.
pub fn thread_pointer() -> usize {
    let me = thread::current().id();
    SYSTEM.with_borrow_mut(|system| {
        let index = system.threads.iter().position(|&thread| thread == me);
        let index = index.unwrap_or_else(|| {
            system.threads.push(me);
            system.threads.len() - 1
        });
        (index + 1) * 64
    })
}

fn futex(word: &AtomicUsize) -> Rc<Futex> {
    SYSTEM.with_borrow_mut(|system| {
        let address = word.as_ptr().addr();
        system.futexes.entry(address).or_default().clone()
    })
}

/// As the kernel: looks at the word and goes to sleep in one step, with respect to those who wake.
pub fn futex_wait(word: &AtomicUsize, value: usize) {
    let futex = futex(word);
    let bucket = futex.bucket.lock().unwrap();
    if word.load(Relaxed) as u32 == value as u32 {
        drop(futex.sleepers.wait(bucket).unwrap());
    }
}

pub fn futex_wake_one(word: &AtomicUsize) {
    let futex = futex(word);
    let _bucket = futex.bucket.lock().unwrap();
    futex.sleepers.notify_one();
}
