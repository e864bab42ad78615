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

/// operator new, new[], delete, delete[]: the allocator's own, or a C++ runtime's, which calls
/// malloc and free.
pub const OPERATORS: [&str; 4] = ["_Znwm", "_Znam", "_ZdlPv", "_ZdaPv"];

/// A library whose operator new and delete pass everything on to malloc and free.
pub fn is_cxx_runtime(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    ["libstdc++.", "libc++.", "libc++abi."]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// The same file, by whatever path.
pub fn same_file(a: &str, b: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path| std::fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
    a == b || (id(a).is_some() && id(a) == id(b))
}
