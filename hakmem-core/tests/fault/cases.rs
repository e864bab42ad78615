//! What is done while calls fail: every entry point, in every state that matters to it.

use crate::scene::{KIB, MIB, Scene};
use hakmem_core::api;
use hakmem_core::front::{self, Entry};
use std::ffi::c_void;
use std::ptr::null_mut;

/// Takes address space so that a mapping of `len` bytes is not aligned to `align` by itself.
fn misalign(len: usize, align: usize) {
    let map = |at: *mut c_void, len, flags| {
        let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, which replaces none.
        let at = unsafe { libc::mmap(at, len, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(at, libc::MAP_FAILED);
        at
    };
    // Where the next mapping would go a smaller one goes first. The system itself aligns whole multiples of 2 MiB.
    let step = if align > 2 * MIB { 2 * MIB } else { 4096 };
    loop {
        let probe = map(null_mut(), len, 0);
        // SAFETY: mapped just above.
        unsafe { libc::munmap(probe, len) };
        if !(probe as usize).is_multiple_of(align) {
            return;
        }
        let end = probe.wrapping_byte_add(len - step);
        map(end, step, libc::MAP_FIXED_NOREPLACE);
    }
}

pub type Case = (&'static str, fn(&mut Scene));

pub const CASES: [Case; 23] = [
    ("malloc, tiny, the first of the process", |s| {
        s.begin();
        s.malloc(100);
    }),
    ("malloc, mid, the first of the process", |s| {
        s.begin();
        s.malloc(300 * KIB);
    }),
    ("malloc, huge, the first of the process", |s| {
        misalign(5 * MIB, 64 * KIB);
        s.begin();
        s.malloc(5 * MIB);
    }),
    ("malloc, more than one SuperSlab", |s| {
        s.malloc(100);
        s.begin();
        (0..10).for_each(|_| s.malloc(900 * KIB));
    }),
    ("calloc, tiny", |s| {
        s.begin();
        s.calloc(48);
    }),
    ("calloc, mid", |s| {
        s.begin();
        s.calloc(8000);
        s.calloc(300 * KIB);
    }),
    ("calloc, huge, fresh and kept", |s| {
        for _ in 0..4 {
            s.malloc(6 * MIB);
            s.free();
        }
        s.begin();
        s.calloc(6 * MIB);
        s.calloc(6 * MIB);
    }),
    ("realloc, small to small, into a new SuperSlab", |s| {
        s.malloc(MIB);
        s.malloc(640 * KIB);
        s.malloc(100);
        s.begin();
        s.realloc(1000);
        s.realloc(200 * KIB);
    }),
    ("realloc, small to huge", |s| {
        s.malloc(100);
        s.begin();
        s.realloc(5 * MIB);
    }),
    ("realloc, huge to small", |s| {
        s.malloc(5 * MIB);
        s.begin();
        s.realloc(100);
    }),
    ("realloc, huge, grown in place", |s| {
        s.malloc(16 * MIB);
        s.malloc(2 * MIB);
        s.held.swap(0, 1);
        s.free();
        s.begin();
        s.realloc(10 * MIB);
    }),
    ("realloc, huge, grown by moving", |s| {
        s.malloc(2 * MIB);
        s.malloc(2 * MIB);
        misalign(41 * MIB, 64 * KIB);
        s.begin();
        s.realloc(41 * MIB);
    }),
    ("realloc, huge, shrunk", |s| {
        s.malloc(8 * MIB);
        s.begin();
        s.realloc(3 * MIB);
    }),
    ("aligned, small", |s| {
        s.begin();
        s.aligned(4096, 5000);
        s.aligned(64 * KIB, 100);
    }),
    ("aligned, huge", |s| {
        misalign(3 * MIB, 4 * MIB);
        s.begin();
        s.aligned(4 * MIB, 3 * MIB);
        s.aligned(4 * MIB, 3 * MIB);
    }),
    ("take_from_slab", |s| {
        s.begin();
        s.slab_block(64);
        s.slab_block(1024);
    }),
    ("free, huge", |s| {
        s.malloc(5 * MIB);
        s.malloc(7 * MIB);
        s.begin();
        s.free_all();
    }),
    ("free, so much that memory goes back", |s| {
        (0..60).for_each(|_| s.malloc(256 * KIB));
        s.begin();
        s.free_all();
    }),
    ("trim", |s| {
        s.malloc(100);
        for _ in 0..4 {
            s.malloc(6 * MIB);
            s.free();
        }
        (0..80).for_each(|_| s.malloc(64 * KIB));
        for _ in 0..70 {
            s.free();
        }
        s.begin();
        api::trim(0);
    }),
    ("a thread's start and end", |s| {
        s.begin();
        s.in_a_thread(|theirs| {
            theirs.malloc(100);
            theirs.malloc(300 * KIB);
            theirs.calloc(50_000);
            if !theirs.held.is_empty() {
                theirs.free();
            }
        });
    }),
    ("blocks of an ended thread, freed and adopted", |s| {
        s.in_a_thread(|theirs| (0..300).for_each(|_| theirs.malloc(KIB)));
        s.begin();
        for _ in 0..290 {
            s.free();
        }
        s.malloc(KIB);
    }),
    (
        "inside an interrupted cold path, the first of the process",
        |s| {
            let inside = front::enter(Entry::Malloc);
            assert!(inside.is_some());
            s.begin();
            s.malloc(100);
        },
    ),
    ("inside an interrupted cold path", |s| {
        s.malloc(6 * MIB);
        misalign(64 * KIB, 64 * KIB);
        let inside = front::enter(Entry::Malloc);
        assert!(inside.is_some());
        s.begin();
        s.free();
        s.malloc(40 * KIB);
        s.aligned(MIB, 5 * MIB);
        s.calloc(2 * MIB);
        while !s.held.is_empty() {
            s.free();
        }
        s.malloc(40 * KIB);
    }),
];
