//! Every call to the system fails once, at every moment: each entry point then answers with a block or with null and
//! ENOMEM, nothing that was there is harmed, nothing is lost, and all works again afterwards.
//!
//! Each run is a process of its own, so that "the first call ever" fails too. A run is made for every case, every way to
//! fail and every n until the case ends before the n-th call.
#![cfg(feature = "fault")]

mod common;

use common::child;
use common::held::{Held, check_zero};
use hakmem_core::front::{self, Entry};
use hakmem_core::os::fault::{self, Toll};
use hakmem_core::{api, observe};
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// What happens at the n-th call.
#[derive(Clone, Copy, Debug)]
enum Way {
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

const WAYS: [Way; 4] = [Way::Once, Way::FromThenOn, Way::Handler, Way::Race];

/// One run of a case.
struct Scene {
    way: Way,
    n: u64,
    held: Vec<Held>,
}

fn errno() -> &'static mut i32 {
    // SAFETY: the location is the calling thread's, and no reference to it is kept.
    unsafe { &mut *libc::__errno_location() }
}

impl Scene {
    /// From here on calls may fail.
    fn begin(&self) {
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

    fn malloc(&mut self, size: usize) {
        let at = self.allocate(size, true, || api::malloc(size));
        self.keep(at, size);
    }

    fn calloc(&mut self, size: usize) {
        let at = self.allocate(size, true, || api::calloc(size, 1));
        if !at.is_null() {
            check_zero(at, size);
        }
        self.keep(at, size);
    }

    fn aligned(&mut self, align: usize, size: usize) {
        let at = self.allocate(size, false, || api::aligned_noerrno(align, size));
        assert_eq!(at as usize % align, 0);
        self.keep(at, size);
    }

    fn slab_block(&mut self, size: usize) {
        let at = self.allocate(size, false, || api::take_from_slab(size));
        self.keep(at, size);
    }

    /// Changes the size of the last block.
    fn realloc(&mut self, size: usize) {
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
    fn free(&mut self) {
        let held = self.held.pop().expect("a block");
        *errno() = libc::EBADF;
        held.free();
        assert_eq!(*errno(), libc::EBADF, "free keeps errno");
    }

    fn free_all(&mut self) {
        while !self.held.is_empty() {
            self.free();
        }
    }

    /// One block of each kind, gone again.
    fn everything_works(&mut self) {
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
static LEFT: AtomicUsize = AtomicUsize::new(0);

fn handler() {
    let saved = *errno();
    let mut scene = Scene {
        way: Way::Never,
        n: 0,
        held: vec![],
    };
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

type Case = (&'static str, fn(&mut Scene));

const CASES: [Case; 23] = [
    ("malloc, tiny, the first of the process", |s| {
        s.begin();
        s.malloc(100);
    }),
    ("malloc, mid", |s| {
        s.malloc(100);
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
    ("realloc, small to small", |s| {
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
        let (way, n) = (Way::Never, 0);
        let mut theirs = Scene {
            way,
            n,
            held: vec![],
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                theirs.malloc(100);
                theirs.malloc(300 * KIB);
                theirs.calloc(50_000);
                if !theirs.held.is_empty() {
                    theirs.free();
                }
            });
        });
        s.held.append(&mut theirs.held);
    }),
    ("blocks of an ended thread, freed and adopted", |s| {
        let (way, n) = (Way::Never, 0);
        let mut theirs = Scene {
            way,
            n,
            held: vec![],
        };
        thread::scope(|scope| {
            scope.spawn(|| (0..300).for_each(|_| theirs.malloc(KIB)));
        });
        s.held.append(&mut theirs.held);
        s.begin();
        for _ in 0..290 {
            s.free();
        }
        s.malloc(KIB);
    }),
    (
        "inside of an interrupted cold path, the first of the process",
        |s| {
            let inside = front::enter(Entry::Malloc);
            assert!(inside.is_some());
            s.begin();
            s.malloc(100);
        },
    ),
    ("inside of an interrupted cold path", |s| {
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

/// What a run tells its parent.
struct Report {
    toll: Toll,
    mapped: u64,
    failed_at: BTreeSet<String>,
}

/// Plays a case in a child and checks what must hold afterwards.
fn play(&(name, case): &Case, way: Way, n: u64) -> Report {
    let ended = child::run(|answer| {
        let mut scene = Scene {
            way,
            n,
            held: vec![],
        };
        case(&mut scene);
        let toll = fault::stop();
        scene.held.iter().for_each(|held| held.check(usize::MAX));
        assert_eq!(observe::check(), Ok(()));
        // SAFETY: nobody else knows the block; null if there is none.
        unsafe { api::free(LEFT.swap(0, Relaxed) as *mut u8) };
        scene.everything_works();
        scene.free_all();
        api::trim(0);
        assert_eq!(observe::check(), Ok(()));
        let after = observe::snapshot();
        assert_eq!((after.live, after.huge_live, after.huge_count), (0, 0, 0));
        let Toll {
            seen,
            failed,
            kept_mapped,
        } = toll;
        writeln!(answer, "{seen} {failed} {kept_mapped} {}", after.mapped).expect("a pipe");
        fault::each_failed(|file, line, call| {
            writeln!(answer, "{file}:{line} {call:?}").expect("a pipe");
        });
    });
    assert_eq!(
        ended.end,
        child::End::Exit(0),
        "{name}, {way:?} {n}: {}",
        ended.stderr
    );
    let mut lines = ended.answer.lines();
    let mut figures = lines
        .next()
        .expect("figures")
        .split(' ')
        .map(|word| word.parse().expect("a number"));
    let mut next = || figures.next().expect("four of them");
    let toll = Toll {
        seen: next(),
        failed: next(),
        kept_mapped: next(),
    };
    Report {
        toll,
        mapped: next(),
        failed_at: lines.map(String::from).collect(),
    }
}

/// Bytes of a leaf of the page map: one more is mapped when the system's choice of addresses crosses a border.
const LEAF: u64 = 65_536 * 12;

/// Plays a case in all ways; returns where calls failed.
fn play_all(case: &Case) -> BTreeSet<String> {
    let mut failed_at = BTreeSet::new();
    let clean = play(case, Way::Never, 0).mapped;
    for way in WAYS {
        for n in 0.. {
            let report = play(case, way, n);
            let lost = report
                .mapped
                .saturating_sub(clean + report.toll.kept_mapped);
            assert!(
                lost == 0 || lost == LEAF,
                "{}, {way:?} {n}: {lost} bytes lost",
                case.0
            );
            failed_at.extend(report.failed_at);
            if report.toll.failed == 0 {
                assert!(n > 0 || report.toll.seen == 0);
                break;
            }
        }
    }
    failed_at
}

/// The kinds of call that a function of `os` makes.
fn kinds(function: &str) -> &'static [&'static str] {
    match function {
        "map" => &["Map"],
        // Both may unmap too: what is too much for the alignment. That is asked for once, below.
        "map_aligned" | "reserve" => &["Map"],
        "unmap" => &["Unmap"],
        "purge" => &["Purge"],
        "remap_in_place" | "remap_to" => &["Remap"],
        "advise_huge" => &["Advise"],
        _ => &[],
    }
}

/// Every place outside of `os` that calls the system, as `file:line Kind`.
fn sites(dir: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sites(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let shipped = text
            .split("#[cfg(test)]")
            .next()
            .expect("at least one part");
        for (number, line) in shipped.lines().enumerate() {
            for (at, _) in line.match_indices("os::") {
                let function = line[at + 4..].split('(').next().expect("at least one part");
                for kind in kinds(function) {
                    found.insert(format!("{}:{} {kind}", path.display(), number + 1));
                }
            }
        }
    }
}

#[test]
fn every_call_of_every_case_may_fail() {
    let _alone = common::alone();
    let mut failed_at = BTreeSet::new();
    for case in &CASES {
        let t = std::time::Instant::now();
        failed_at.append(&mut play_all(case));
       
    }
    let mut all = BTreeSet::new();
    sites(Path::new("src"), &mut all);
    assert!(all.len() > 20, "{all:?}");
    let named = |site: &String| {
        failed_at
            .iter()
            .any(|failed| failed.ends_with(site.as_str()))
    };
    let never: Vec<_> = all.iter().filter(|site| !named(site)).collect();
    assert!(never.is_empty(), "never made to fail: {never:#?}");
}
