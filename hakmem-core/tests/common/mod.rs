//! What several test files share.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod child;
pub mod held;

use std::sync::{Mutex, MutexGuard, PoisonError};

static ALONE: Mutex<()> = Mutex::new(());

/// Tests of one process that count blocks or inject faults take turns (cargo test; nextest gives each a process).
pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
