//! Pure arithmetic: no memory, no atomics, no operating system, no `unsafe`.
#![forbid(unsafe_code)]

pub mod align;
pub mod size_class;
