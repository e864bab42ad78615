//! Memory in large pieces: SuperSlabs cut into granules, huge blocks, the page map that finds an address's owner, and
//! the policy that gives memory back.
//!
//! Knows only `os` (and `base`, `sync`). Nothing here knows what a heap is: an owner is a number.

pub mod emergency;
pub mod huge;
mod list;
pub mod meta;
pub mod page_map;
pub mod pool;
mod retain;
pub mod shard;
pub mod super_slab;

/// Gives back everything that is free; returns the bytes.
pub fn purge_all() -> usize {
    let shards: usize = shard::all().iter().map(|shard| shard.purge_all()).sum();
    shards + huge::purge_all()
}
