//! The invariant checker: walks all heaps, slabs, shards and their page map entries.

use crate::front::{Entry, enter};
use crate::heap;
use crate::segment::shard;

/// Checks everything that locks guard; the message names the first fault found. `Ok` also when it can't look, because
/// it was called by a signal handler that interrupted the allocator. Other threads may run meanwhile.
pub fn check() -> Result<(), &'static str> {
    let Some(entered) = enter(Entry::Free) else {
        return Ok(());
    };
    let mut result = Ok(());
    heap::each(|heap| {
        let locked = heap.lock();
        result = result.and(locked.check());
        if locked.unlock().is_some() {
            result = result.and(Err("a block that was freed twice"));
        }
    });
    for shard in shard::all() {
        result = result.and(shard.lock().check());
    }
    drop(entered);
    result
}
