//! Locks and atomics for code that must not allocate and must survive fork.
//!
//! Atomics come through this module so that a model checker can take their place (`--cfg loom`, in hakmem-models).

mod lock;

pub use lock::{Guard, Lock, Rank, after_fork_in_child};

#[cfg(loom)]
pub use crate::atomic;
#[cfg(not(loom))]
pub use core::sync::atomic;
