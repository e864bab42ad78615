//! Every call to the system fails once, at every moment: each entry point then answers with a block or with null and
//! ENOMEM, nothing that was there is harmed, nothing is lost, and all works again afterwards.
//!
//! Each run is a process of its own, so that "the first call ever" fails too. A run is made for every case, every way to
//! fail and every n until the case ends before the n-th call.
#![cfg(feature = "fault")]

#[path = "../common/mod.rs"]
mod common;

mod cases;
mod scene;
mod sites;

use cases::{CASES, Case};
use common::child;
use hakmem_core::os::fault::{self, Toll};
use hakmem_core::{api, observe};
use scene::{LEFT, Scene, WAYS, Way};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

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
                assert!(n > 0, "{} makes no call", case.0);
                break;
            }
        }
    }
    failed_at
}

#[test]
fn every_call_of_every_case_may_fail() {
    let _alone = common::alone();
    let (next, failed_at) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    // A case's runs are processes of their own, so cases can go side by side.
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = CASES.get(next.fetch_add(1, Relaxed)) {
                    let mut places = play_all(case);
                    failed_at.lock().expect("no panic").append(&mut places);
                }
            });
        }
    });
    let failed_at = failed_at.into_inner().expect("no panic");
    let (all, one) = sites::needed();
    assert!(all.len() > 15, "{all:?}");
    let never = |place: &&String| {
        !failed_at
            .iter()
            .any(|failed| failed.ends_with(place.as_str()))
    };
    let missed: Vec<_> = all.iter().filter(never).collect();
    assert!(missed.is_empty(), "never made to fail: {missed:#?}");
    assert!(
        !one.iter().all(|place| never(&place)),
        "none of {one:#?} was made to fail"
    );
}
