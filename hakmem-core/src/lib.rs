//! hakmem's allocator, without any exported symbol. `hakmem-preload` turns it into `malloc` and friends.
//!
//! The folders are the layers, and each knows only those to its right:
//! `api → front → heap → slab → segment → os`. Beside them: `base` (arithmetic), `sync` (locks), `observe` (statistics
//! and checks), `control` (options, threads, fork, messages).
#![cfg_attr(not(test), no_std)]
// Otherwise the compiler turns malloc and memset in one function into a call of calloc, that is, into recursion.

pub mod api;
pub mod base;
pub mod control;
pub mod front;
pub mod heap;
pub mod observe;
pub mod os;
pub mod segment;
pub mod slab;
pub mod sync;
