//! hakmem's allocator, without any exported symbol. `hakmem-preload` turns it into `malloc` and friends.
//!
//! The folders are the layers, and each knows only those to its right:
//! `api → front → heap → slab → segment → os`. Beside them: `base` (arithmetic), `sync` (locks), `observe` (statistics
//! and checks), `control` (options, threads, fork, messages).
#![no_std]
#![no_builtins]

#[cfg(test)]
extern crate std;
#[cfg(test)]
use std::prelude::rust_2024::*;
#[cfg(test)]
use std::vec;

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
