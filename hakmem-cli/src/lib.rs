//! The library behind `hak`: run, prove, measure and compare memory allocators.

pub mod allocator;
pub mod bench;
pub mod cli;
pub mod commands;
pub mod exit;
pub mod lab;
pub mod measure;
pub mod names;
pub mod peers;
pub mod place;
pub mod proof;
pub mod report;
pub mod stats;
