use std::path::PathBuf;

use super::*;
use crate::allocator::identity;

const LIBRARY: &str = "/lib/liba.so";
const LIBC: &str = "/lib/libc.so.6";

fn named(name: &str) -> Allocator {
    Allocator {
        label: name.to_owned(),
        library: (name != "libc").then(|| PathBuf::from(LIBRARY)),
        linked: false,
        env: Vec::new(),
        identity: identity::find(name),
    }
}

/// A faultless record of a process whose functions are all bound to one file.
fn record(to: &str) -> ProbeRecord {
    let heap = if to == LIBC { 135_168 } else { 0 };
    ProbeRecord {
        event: "exit".to_owned(),
        pid: 7,
        exe: "/bin/program".to_owned(),
        bindings: CORE
            .iter()
            .map(|f| ((*f).to_owned(), Some(to.to_owned())))
            .collect(),
        heap: Some(heap),
        probed: Some(heap),
        ..ProbeRecord::default()
    }
}

fn rebound(mut record: ProbeRecord, function: &str, to: &str) -> ProbeRecord {
    record
        .bindings
        .insert(function.to_owned(), Some(to.to_owned()));
    record
}

fn refusals(name: &str, record: &ProbeRecord) -> Vec<Refusal> {
    judge(&named(name), Some(record), None)
}

#[test]
fn a_faultless_run_is_proven() {
    assert_eq!(refusals("mine", &record(LIBRARY)), []);
    assert_eq!(refusals("libc", &record(LIBC)), []);
    let with_cxx = rebound(record(LIBRARY), "_Znwm", "/lib/libstdc++.so.6");
    assert_eq!(refusals("mine", &with_cxx), []);
}

#[test]
fn silence_is_no_proof() {
    assert_eq!(judge(&named("mine"), None, None), [Refusal::NoRecord]);
    let started = ProbeRecord {
        event: "start".to_owned(),
        ..record(LIBRARY)
    };
    assert_eq!(refusals("mine", &started), [Refusal::NoEnd]);
}

#[test]
fn a_library_that_is_not_loaded() {
    let refusals = refusals("mine", &record(LIBC));
    assert_eq!(
        refusals[0].to_string(),
        "not loaded: malloc is that of /lib/libc.so.6"
    );
}

#[test]
fn a_program_with_its_own_malloc() {
    let refusals = refusals("mine", &record("/bin/program"));
    assert_eq!(
        refusals[0].to_string(),
        "not in use: the program defines its own malloc"
    );
}

#[test]
fn a_half_interposing_library_is_told_what_it_lacks() {
    let half = rebound(rebound(record(LIBRARY), "calloc", LIBC), "realloc", LIBC);
    assert_eq!(
        refusals("mine", &half)[0].to_string(),
        "half-interposing: calloc is that of /lib/libc.so.6, realloc is that of /lib/libc.so.6"
    );
}

#[test]
fn a_foreign_operator_new() {
    let foreign = rebound(record(LIBRARY), "_Znwm", "/lib/other.so");
    assert_eq!(
        refusals("mine", &foreign)[0].to_string(),
        "_Znwm is that of /lib/other.so"
    );
}

#[test]
fn memory_in_libcs_heap_is_a_lie_whatever_the_names_say() {
    let leaking = ProbeRecord {
        heap: Some(4096),
        ..record(LIBRARY)
    };
    assert_eq!(
        refusals("mine", &leaking),
        [Refusal::LibcHeap { bytes: 4096 }]
    );
    let forwarding = ProbeRecord {
        probed: Some(135_168),
        ..record(LIBRARY)
    };
    assert_eq!(
        refusals("mine", &forwarding),
        [Refusal::LibcHeap { bytes: 135_168 }]
    );
    let unknown = ProbeRecord {
        heap: None,
        ..record(LIBRARY)
    };
    assert_eq!(refusals("mine", &unknown), [Refusal::LibcUnknown]);
}

#[test]
fn libc_must_really_have_served() {
    let empty = ProbeRecord {
        probed: Some(0),
        ..record(LIBC)
    };
    assert_eq!(refusals("libc", &empty), [Refusal::LibcUnused]);
    let other = refusals("libc", &record(LIBRARY));
    assert_eq!(
        other[0].to_string(),
        "not loaded: malloc is that of /lib/liba.so"
    );
}

#[test]
fn the_version_must_fit_the_name() {
    let mut record = record(LIBRARY);
    record
        .versions
        .insert("mi_version".to_owned(), "20302".to_owned());
    assert_eq!(refusals("mimalloc2", &record), []);
    assert_eq!(
        refusals("mimalloc3", &record)[0].to_string(),
        "mislabelled: called mimalloc 3, but it says it is 20302"
    );
    let says = refusals("jemalloc", &record)[0].to_string();
    assert_eq!(
        says,
        "mislabelled: called jemalloc, but it says it is another allocator"
    );
}

#[test]
fn hakmem_must_testify_itself() {
    let record = record(LIBRARY);
    let hakmem = named("hakmem");
    assert_eq!(
        judge(&hakmem, Some(&record), None),
        [Refusal::NoHakmemRecord]
    );
    let mut own = HakmemRecord::default();
    assert_eq!(
        judge(&hakmem, Some(&record), Some(&own)),
        [Refusal::NothingServed]
    );
    own.served.blocks = 12;
    assert_eq!(judge(&hakmem, Some(&record), Some(&own)), []);
}
