//! Where the sources call the system.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The kinds of call that a function of `os` always makes.
fn kinds(function: &str) -> &'static [&'static str] {
    match function {
        "map" | "map_aligned" | "reserve" => &["Map"],
        "unmap" => &["Unmap"],
        "purge" => &["Purge"],
        "remap_in_place" | "remap_to" => &["Remap"],
        "advise_huge" => &["Advise"],
        _ => &[],
    }
}

/// Calls `each(file:line, function)` for every use of a function of `os` outside of it.
fn each_use(dir: &Path, each: &mut impl FnMut(String, &str)) {
    for entry in fs::read_dir(dir).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            each_use(&path, each);
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let shipped = text.find("#[cfg(test)]").unwrap_or(text.len());
        for (number, line) in text[..shipped].lines().enumerate() {
            for (at, _) in line.match_indices("os::") {
                let name = &line[at + 4..];
                let end = name.find('(').unwrap_or(0);
                each(format!("{}:{}", path.display(), number + 1), &name[..end]);
            }
        }
    }
}

/// Places, as `file:line Kind`: those where a call must have been made to fail, and those of which one must. The latter
/// unmap what is too much for an alignment, if the system's choice of addresses makes them.
pub fn needed() -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut all, mut one) = (BTreeSet::new(), BTreeSet::new());
    each_use(Path::new("src"), &mut |place, function| {
        all.extend(kinds(function).iter().map(|kind| format!("{place} {kind}")));
        if let "map_aligned" | "reserve" = function {
            one.insert(format!("{place} Unmap"));
        }
    });
    (all, one)
}
