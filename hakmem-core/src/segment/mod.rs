//! Memory in large pieces: SuperSlabs cut into granules, huge blocks, the page map that finds an address's owner, and
//! the policy that gives memory back.
//!
//! Knows only `os` (and `base`, `sync`). Nothing here knows what a heap is: an owner is a number.

mod check;
pub mod emergency;
pub mod huge;
mod list;
pub mod meta;
pub mod page_map;
pub mod pool;
mod retain;
pub mod shard;
mod slots;
pub mod super_slab;

/// Free memory that may stay resident while the heap grows: this, and an eighth of what is in use.
const GROWTH_FLOOR: usize = 4 << 20;
const GROWTH_SHARE: usize = 8;

/// Called when the heap has to grow: if much is retained that did not fit the need, it goes back first. So memory kept
/// for one kind of use never comes on top of a peak of another kind. Not to be called with a shard locked.
pub fn relieve() {
    let (live, _, mut kept) = huge::stats();
    let mut used = live;
    for shard in shard::all() {
        let gauge = shard.gauge();
        used += gauge.0;
        kept += gauge.1;
    }
    if kept > GROWTH_FLOOR + used / GROWTH_SHARE {
        huge::purge_all();
        shard::all().iter().for_each(|shard| shard.purge_to_floor());
    }
}

pub use pool::set_floor as set_retained_floor;

/// Forgets what refaults taught, and gives back what was kept because of that.
pub fn settle() {
    shard::all().iter().for_each(|shard| shard.settle());
}

/// Gives back everything that is free; returns the bytes.
pub fn purge_all() -> usize {
    let shards: usize = shard::all().iter().map(|shard| shard.purge_all()).sum();
    shards + huge::purge_all()
}
