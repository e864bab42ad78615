//! Proof that a process used the allocator it was told to use.
//!
//! Nothing here trusts a name or an exit code. `session` loads the probe (`probe/hakprobe.c`) and
//! collects what it and hakmem wrote; `judge` weighs that against what the user named; `bindings`
//! reads the call tables of a live process from outside; `trace` follows a whole process tree;
//! `file` says beforehand whether a program can be preloaded at all. How each lie is caught is
//! told in `docs/BENCHMARKS.md`.

pub mod bindings;
pub mod file;
pub mod judge;
pub mod record;
pub mod session;
pub mod trace;
pub mod tree;

pub use judge::{Refusal, judge};
pub use record::{HakmemRecord, ProbeRecord};
pub use session::Session;

use crate::allocator::elf::Elf;

/// The C functions that an allocator must answer all of: a block from one allocator in the hands
/// of another ends the process.
pub const CORE: [&str; 8] = [
    "malloc",
    "free",
    "calloc",
    "realloc",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "malloc_usable_size",
];

/// operator new, new[], delete, delete[]: the allocator's own, or built on malloc and free.
pub const OPERATORS: [&str; 4] = ["_Znwm", "_Znam", "_ZdlPv", "_ZdaPv"];

/// Whether an object's operator new and delete are built on malloc and free: a C++ runtime, or a
/// program that carries its own copy of one. It imports malloc and does not define it.
pub fn builds_on_malloc(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_runtime = ["libstdc++.", "libc++.", "libc++abi."]
        .iter()
        .any(|r| name.starts_with(r));
    let imports =
        |elf: Elf| !elf.exports("malloc") && elf.slots.iter().any(|slot| slot.function == "malloc");
    is_runtime || Elf::read(path.as_ref()).is_ok_and(imports)
}

/// The same file, by whatever path.
pub fn same_file(a: &str, b: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path| std::fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
    a == b || (id(a).is_some() && id(a) == id(b))
}
