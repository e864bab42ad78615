//! Weighs what the probe saw against the allocator that was named.

use std::fmt;

use super::{CORE, HakmemRecord, OPERATORS, ProbeRecord, builds_on_malloc, same_file};
use crate::allocator::Allocator;

/// Why a run does not count as a run on the allocator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The program left no record: killed, `_exit`, static, or the preload was dropped.
    NoRecord,
    /// It left one at the start only.
    NoEnd,
    /// No function is bound to the library.
    NotInUse { bound_to: String, own: bool },
    /// Some functions are bound to the library and some are not.
    HalfInterposing { foreign: Vec<(String, String)> },
    /// operator new or delete belongs to somebody else.
    ForeignOperator { function: String, bound_to: String },
    /// Everything is bound to the library, and yet libc's heap holds memory.
    LibcHeap { bytes: u64 },
    /// libc could not be asked.
    LibcUnknown,
    /// libc was to be measured, and its heap is empty.
    LibcUnused,
    /// The allocator says that it is another one.
    Mislabelled { claimed: String, says: String },
    /// hakmem wrote no proof record for the process.
    NoHakmemRecord,
    /// hakmem handed out nothing.
    NothingServed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoRecord => f.write_str(
                "no record: the process was killed, left by _exit, or never loaded the probe",
            ),
            Refusal::NoEnd => f.write_str("the process was killed or left by _exit"),
            Refusal::NotInUse { own: true, .. } => {
                f.write_str("not in use: the program defines its own malloc")
            }
            Refusal::NotInUse { bound_to, .. } => {
                write!(f, "not loaded: malloc is that of {bound_to}")
            }
            Refusal::HalfInterposing { foreign } => {
                f.write_str("half-interposing: ")?;
                for (i, (function, to)) in foreign.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{function} is that of {to}")?;
                }
                Ok(())
            }
            Refusal::ForeignOperator { function, bound_to } => {
                write!(f, "{function} is that of {bound_to}")
            }
            Refusal::LibcHeap { bytes } => {
                write!(
                    f,
                    "libc's own heap holds {bytes} bytes: something still allocates there"
                )
            }
            Refusal::LibcUnknown => f.write_str("libc does not tell whether its own heap is used"),
            Refusal::LibcUnused => f.write_str("libc's heap is empty: another allocator served"),
            Refusal::Mislabelled { claimed, says } => {
                write!(f, "mislabelled: called {claimed}, but it says it is {says}")
            }
            Refusal::NoHakmemRecord => f.write_str("hakmem wrote no proof record"),
            Refusal::NothingServed => f.write_str("hakmem served no block"),
        }
    }
}

/// All reasons against; empty means proven. `probe` is the last line of the process's probe.
pub fn judge(
    allocator: &Allocator,
    probe: Option<&ProbeRecord>,
    hakmem: Option<&HakmemRecord>,
) -> Vec<Refusal> {
    let Some(probe) = probe else {
        return vec![Refusal::NoRecord];
    };
    let mut refusals = match &allocator.library {
        Some(library) => against_library(&library.to_string_lossy(), probe),
        None => against_libc(probe),
    };
    if !probe.at_exit() {
        refusals.push(Refusal::NoEnd);
        return refusals;
    }
    if let Some((key, prefix)) = allocator.identity.and_then(|i| i.version) {
        let says = probe
            .versions
            .get(key)
            .map_or("another allocator", String::as_str);
        if refusals.is_empty() && !says.starts_with(prefix) {
            let claimed = allocator.identity.map_or("", |i| i.title).to_owned();
            refusals.push(Refusal::Mislabelled {
                claimed,
                says: says.to_owned(),
            });
        }
    }
    if allocator.is_hakmem() && refusals.is_empty() {
        match hakmem {
            None => refusals.push(Refusal::NoHakmemRecord),
            Some(record) if record.served.blocks == 0 => refusals.push(Refusal::NothingServed),
            Some(_) => {}
        }
    }
    refusals
}

fn against_library(home: &str, probe: &ProbeRecord) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let bound = |function: &str| probe.bound(function).unwrap_or("nobody").to_owned();
    let foreign: Vec<(String, String)> = CORE
        .iter()
        .map(|function| ((*function).to_owned(), bound(function)))
        .filter(|(_, to)| !same_file(to, home))
        .collect();
    if foreign.len() == CORE.len() {
        let bound_to = bound("malloc");
        let own = same_file(&bound_to, &probe.exe);
        refusals.push(Refusal::NotInUse { bound_to, own });
        return refusals;
    }
    if !foreign.is_empty() {
        refusals.push(Refusal::HalfInterposing { foreign });
    }
    for function in OPERATORS {
        if let Some(to) = probe.bound(function)
            && !same_file(to, home)
            && !builds_on_malloc(to)
        {
            let (function, bound_to) = (function.to_owned(), to.to_owned());
            refusals.push(Refusal::ForeignOperator { function, bound_to });
        }
    }
    if probe.at_exit() {
        match (probe.heap, probe.probed.or(probe.heap)) {
            (None, _) => refusals.push(Refusal::LibcUnknown),
            (Some(0), Some(0)) => {}
            (heap, probed) => refusals.push(Refusal::LibcHeap {
                bytes: heap.max(probed).unwrap_or(0),
            }),
        }
    }
    refusals
}

fn against_libc(probe: &ProbeRecord) -> Vec<Refusal> {
    let is_libc = |to: &str| {
        to.rsplit('/')
            .next()
            .is_some_and(|n| n.starts_with("libc.so."))
    };
    let mut refusals: Vec<Refusal> = Vec::new();
    let foreign: Vec<(String, String)> = CORE
        .iter()
        .map(|f| {
            (
                (*f).to_owned(),
                probe.bound(f).unwrap_or("nobody").to_owned(),
            )
        })
        .filter(|(_, to)| !is_libc(to))
        .collect();
    if let Some((_, bound_to)) = foreign.iter().find(|(f, _)| f == "malloc") {
        let own = same_file(bound_to, &probe.exe);
        refusals.push(Refusal::NotInUse {
            bound_to: bound_to.clone(),
            own,
        });
    } else if !foreign.is_empty() {
        refusals.push(Refusal::HalfInterposing { foreign });
    } else if probe.at_exit() {
        match probe.probed {
            None => refusals.push(Refusal::LibcUnknown),
            Some(0) => refusals.push(Refusal::LibcUnused),
            Some(_) => {}
        }
    }
    refusals
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
