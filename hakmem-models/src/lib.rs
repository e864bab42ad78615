//! hakmem's layers from `heap` down, compiled from the shipped files onto atomics that loom controls.
//!
//! Only what lies below is a model: the atomics (`atomic`), the system calls (`os`) and the thread keys (`libc`).
//! `tests/protocols` runs the protocols in every interleaving that the bounds in `model` allow.
#[cfg(not(loom))]
compile_error!("build in the folder hakmem-models, whose .cargo/config.toml sets `--cfg loom`");

// What the shipped code calls `libc` is this crate.
extern crate self as libc;

pub mod atomic;
mod keys;
pub mod model;
pub mod os;

pub use keys::*;

#[path = "../../hakmem-core/src/base/mod.rs"]
pub mod base;
#[path = "../../hakmem-core/src/heap/mod.rs"]
pub mod heap;
#[path = "../../hakmem-core/src/segment/mod.rs"]
pub mod segment;
#[path = "../../hakmem-core/src/slab/mod.rs"]
pub mod slab;
#[path = "../../hakmem-core/src/sync/mod.rs"]
pub mod sync;
