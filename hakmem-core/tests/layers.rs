//! The sources keep the rules that a compiler does not check: the arrows between layers, where `unsafe` may stand and
//! what its comments name, and the length of files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const MOST_LINES: usize = 420;

/// What each layer may name, beside itself.
const ARROWS: [(&str, &[&str]); 9] = [
    ("base", &[]),
    // Where a model checker takes the place of the atomics, they come from its crate.
    ("sync", &["base", "os", "atomic"]),
    ("os", &["base", "sync"]),
    ("segment", &["os", "base", "sync"]),
    ("slab", &["segment", "os", "base", "sync"]),
    ("heap", &["slab", "segment", "os", "base", "sync"]),
    (
        "front",
        &[
            "heap",
            "slab",
            "segment",
            "os",
            "base",
            "sync",
            "control::misuse",
        ],
    ),
    (
        "api",
        &[
            "front",
            "heap",
            "slab",
            "segment",
            "os",
            "base",
            "sync",
            "control::misuse",
        ],
    ),
    (
        "observe",
        &[
            "front",
            "heap",
            "slab",
            "segment",
            "os",
            "base",
            "sync",
            "control::misuse",
        ],
    ),
];
/// Sees everything but the entry points: it takes every lock for a fork, and reports what any layer found.
const CONTROL: &[&str] = &["front", "heap", "slab", "segment", "os", "base", "sync"];

/// Arithmetic, policies, options and statistics: without `unsafe`, and the compiler sees to that.
const PURE: [&str; 5] = [
    "base/mod.rs",
    "front/room.rs",
    "segment/retain.rs",
    "control/options.rs",
    "observe/mod.rs",
];

/// Path below `src` and text of every source file of a crate.
fn sources(root: &str) -> BTreeMap<String, String> {
    fn collect(dir: &Path, root: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(dir).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, root, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path
                    .strip_prefix(root)
                    .expect("below it")
                    .display()
                    .to_string();
                found.insert(name, fs::read_to_string(&path).expect("text"));
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(Path::new(root), Path::new(root), &mut found);
    assert!(!found.is_empty());
    found
}

/// The part that ships, without unit tests.
fn shipped(text: &str) -> &str {
    let tests = ["\n#[cfg(test)]\nmod ", "\n#[cfg(all(test"];
    let end = tests.iter().filter_map(|mark| text.find(mark)).min();
    &text[..end.unwrap_or(text.len())]
}

/// The lines of code: without comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(number, line)| {
        let code = line.split("//").next().expect("at least one part");
        (!code.trim().is_empty()).then_some((number + 1, code))
    })
}

/// The first two parts of every path into this crate on a line: `front::alloc` for `crate::front::alloc::x`.
fn named(line: &str) -> Vec<String> {
    let paths = line.match_indices("crate::").map(|(at, mark)| {
        let path = &line[at + mark.len()..];
        let end = path.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
        let mut parts = path[..end.unwrap_or(path.len())].split("::");
        let (first, second) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        format!("{first}::{second}")
    });
    paths.collect()
}

/// Whether code in `layer` may name `path`.
fn allowed(layer: &str, path: &str) -> bool {
    let may = match layer {
        "control" => CONTROL,
        _ => {
            ARROWS
                .iter()
                .find(|(name, _)| *name == layer)
                .expect("a layer")
                .1
        }
    };
    let inside = |prefix: &str| {
        path.split("::").next() == Some(prefix) || path.trim_end_matches(':') == prefix
    };
    inside(layer) || may.iter().any(|prefix| inside(prefix))
}

#[test]
fn layers_know_only_what_is_to_their_right() {
    let mut wrong = vec![];
    for (name, text) in sources("src") {
        let Some((layer, _)) = name.split_once('/') else {
            continue;
        };
        for (number, line) in code(shipped(&text)) {
            assert!(
                !line.contains("crate::{"),
                "{name}:{number}: one path for each layer"
            );
            assert!(
                !line.contains("super::super::"),
                "{name}:{number}: leads out of the layer"
            );
            // A macro is a layer's too, but Rust keeps it at the top.
            let paths = named(line)
                .into_iter()
                .filter(|path| path != "thread_slot::");
            wrong.extend(
                paths
                    .filter(|path| !allowed(layer, path))
                    .map(|path| format!("{name}:{number}: {path}")),
            );
        }
    }
    assert!(
        wrong.is_empty(),
        "arrows that point to the left: {wrong:#?}"
    );
}

#[test]
fn the_arrows_are_told_apart() {
    assert_eq!(
        named("use crate::heap::{self, Heap}; crate::os::map(1)"),
        ["heap::", "os::map"]
    );
    for (layer, path) in [
        ("slab", "heap::"),
        ("os", "segment::huge"),
        ("front", "control::fork"),
        ("base", "os::"),
    ] {
        assert!(!allowed(layer, path), "{layer} → {path}");
    }
    for (layer, path) in [
        ("slab", "segment::meta"),
        ("front", "control::misuse"),
        ("front", "front::x"),
    ] {
        assert!(allowed(layer, path), "{layer} → {path}");
    }
}

#[test]
fn pure_files_forbid_unsafe_code() {
    let sources = sources("src");
    for name in PURE {
        assert!(sources[name].contains("#![forbid(unsafe_code)]"), "{name}");
    }
}

#[test]
fn files_are_short() {
    for root in ["src", "tests", "../hakmem-preload/src"] {
        for (name, text) in sources(root) {
            let lines = text.lines().count();
            assert!(lines <= MOST_LINES, "{root}/{name} has {lines} lines");
        }
    }
}

/// The names `INV-…` in a text.
fn invariants(text: &str) -> BTreeSet<&str> {
    let names = text.match_indices("INV-").map(|(at, _)| {
        let end = text[at..].find(|c: char| !c.is_ascii_uppercase() && c != '-');
        text[at..at + end.unwrap_or(text.len() - at)].trim_end_matches('-')
    });
    names.collect()
}

/// The `SAFETY` comments of a text, each with its first line's number.
fn safety_comments(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = vec![];
    let mut open = false;
    for (number, line) in text.lines().enumerate() {
        match line.trim_start().strip_prefix("// ") {
            Some(comment) if comment.starts_with("SAFETY:") => {
                found.push((number + 1, comment.to_string()));
                open = true;
            }
            Some(comment) if open => {
                found.last_mut().expect("an open one").1 += &format!(" {comment}")
            }
            _ => open = false,
        }
    }
    found
}

/// That a block has such a comment is clippy's business.
#[test]
fn safety_comments_name_invariants_that_exist() {
    let document = fs::read_to_string("../docs/INVARIANTS.md").expect("the document");
    let known: BTreeSet<_> = document
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    let mut used = BTreeSet::new();
    for root in ["src", "../hakmem-preload/src"] {
        for (name, text) in sources(root) {
            for (number, comment) in safety_comments(shipped(&text)) {
                let names = invariants(&comment);
                let passed_on = comment.contains("as the caller promises");
                assert!(
                    !names.is_empty() || passed_on,
                    "{root}/{name}:{number}: names no invariant"
                );
                used.extend(names.into_iter().map(String::from));
            }
        }
    }
    let used: BTreeSet<_> = used.iter().map(String::as_str).collect();
    assert_eq!(
        used, known,
        "used in comments, and described in docs/INVARIANTS.md"
    );
}
