//! A block freed twice is reported, whoever finds it: at the latest when the block comes to its slab.

mod common;

use common::child::{self, End, Ended};
use hakmem_core::control::{Misuse, misuse};
use hakmem_core::{api, observe};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

fn malloc(size: usize) -> *mut u8 {
    let block = api::malloc(size);
    assert!(!block.is_null());
    block
}

/// # Safety
/// The tests break its rule on purpose, in a process of their own.
unsafe fn free(block: *mut u8) {
    // SAFETY: as the caller wants it.
    unsafe { api::free(block) }
}

/// Runs `body` in a child, which must die with one line about a double free of a block of `size` bytes.
fn dies_of_double_free(size: usize, body: impl FnOnce()) {
    let about = format!("is already free (block of {size} bytes) (docs/MISUSE.md#double-free)\n");
    dies("hakmem: double free: pointer 0x", &about, body);
}

/// As [`dies_of_double_free`], with a block whose slab is gone when the second free gets there.
fn dies_of_invalid_free(body: impl FnOnce()) {
    let about =
        "is not a block: its memory was given back to hakmem (docs/MISUSE.md#invalid-free)\n";
    dies("hakmem: invalid free: pointer 0x", about, body);
}

fn dies(starts: &str, ends: &str, body: impl FnOnce()) {
    let Ended { end, stderr, .. } = child::run(|_| body());
    assert_eq!(end, End::Signal(libc::SIGABRT), "{stderr}");
    assert!(stderr.starts_with(starts), "{stderr}");
    assert!(stderr.ends_with(ends), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

/// Frees one of `blocks` blocks twice, and half of the others in between; all but `kept` of the rest afterwards.
fn twice(size: usize, blocks: usize, kept: usize) {
    let block = malloc(size);
    let mut others: Vec<_> = (1..blocks).map(|_| malloc(size)).collect();
    let mut free_down_to = |n| {
        // SAFETY: see `free`.
        others.drain(n..).for_each(|other| unsafe { free(other) });
    };
    // SAFETY: see `free`.
    unsafe {
        free(block);
        free_down_to(blocks / 2);
        free(block);
        free_down_to(kept);
    }
}

/// Sizes, and numbers of blocks, for which the second free goes to the bin, to the spill or straight to the slab.
const FORMS: [(usize, usize); 6] = [
    (16, 2),
    (16, 200),
    (1024, 2),
    (1024, 40),
    (24 << 10, 6),
    (112 << 10, 4),
];

#[test]
fn on_one_thread_found_by_a_trim() {
    let _alone = common::alone();
    for (size, blocks) in FORMS {
        dies_of_double_free(size, || {
            twice(size, blocks, 1);
            api::trim(0);
        });
    }
}

#[test]
fn on_one_thread_found_when_the_thread_ends() {
    let _alone = common::alone();
    for (size, blocks) in FORMS {
        dies_of_double_free(size, || {
            thread::spawn(move || twice(size, blocks, 1))
                .join()
                .unwrap();
        });
    }
}

/// The slab's memory has gone back to its SuperSlab, or to the system, when the second free of a block gets there.
#[test]
fn after_the_slab_was_given_back() {
    let _alone = common::alone();
    for (size, _) in FORMS.into_iter().chain([(1 << 20, 3)]) {
        dies_of_invalid_free(|| {
            // Of another class: keeps the SuperSlab.
            malloc(48);
            let block = malloc(size);
            // SAFETY: see `free`.
            unsafe { free(block) };
            api::trim(0);
            // SAFETY: see `free`.
            unsafe { free(block) };
        });
    }
}

/// After the first of two frees by another thread the second is seen at once.
#[test]
fn by_another_thread() {
    let _alone = common::alone();
    dies_of_double_free(512, || {
        let block = malloc(512) as usize;
        // SAFETY: see `free`.
        thread::spawn(move || unsafe {
            free(block as *mut u8);
            free(block as *mut u8);
        })
        .join()
        .unwrap();
    });
}

/// Once by its owner and once by another thread, with an owner that ends: found by whoever takes over its slabs.
#[test]
fn of_an_ended_thread_found_by_whoever_adopts_the_slab() {
    let _alone = common::alone();
    dies_of_double_free(512, || {
        let (block, kept) = thread::spawn(|| {
            let (block, kept) = (malloc(512), malloc(512));
            // SAFETY: see `free`.
            unsafe { free(block) };
            (block as usize, kept as usize)
        })
        .join()
        .unwrap();
        // SAFETY: see `free`.
        unsafe { free(block as *mut u8) };
        thread::spawn(|| (0..200).for_each(|_| _ = malloc(512)))
            .join()
            .unwrap();
        assert_ne!(kept, 0);
    });
}

/// With the policy `Report` the heap is whole afterwards.
#[test]
fn reported_only_harms_nothing() {
    let _alone = common::alone();
    let Ended { end, stderr, .. } = child::run(|_| {
        misuse::set_policy(Misuse::Report);
        for (size, blocks) in FORMS {
            twice(size, blocks, 1);
            api::trim(0);
            assert_eq!(observe::check(), Ok(()));
            twice(size, blocks, 0);
            api::trim(0);
            assert_eq!(observe::check(), Ok(()));
        }
    });
    assert_eq!(end, End::Exit(0), "{stderr}");
    assert!(
        stderr.lines().all(|line| line.starts_with("hakmem: ")),
        "{stderr}"
    );
    assert!(stderr.lines().count() >= FORMS.len(), "{stderr}");
}

/// Where a huge block was unmapped another allocator may put a block of its own, which is not to be taken for ours.
#[test]
fn another_allocators_block_where_one_of_ours_was() {
    static TOOK: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn take(block: *mut c_void) {
        TOOK.store(block as usize, Relaxed);
    }
    let _alone = common::alone();
    let ended = child::run(|_| {
        misuse::set_foreign_free(take);
        let block = malloc(5 << 20);
        // SAFETY: see `free`.
        unsafe {
            free(block);
            assert_eq!(TOOK.load(Relaxed), 0);
            free(block);
        }
        assert_eq!(TOOK.load(Relaxed), block as usize);
    });
    assert_eq!(ended.end, End::Exit(0), "{}", ended.stderr);
}
