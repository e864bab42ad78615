//! Runs a model in every interleaving within bounds.

use crate::heap::Heap;
use crate::segment::{pool::Pool, shard};
use crate::sync::Rank;
use crate::{atomic, keys, os};
use loom::model::Builder;
use loom::thread::JoinHandle;
use std::mem::size_of;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Shards that models use, and so the numbers of the heaps.
const SHARDS: std::ops::Range<u32> = 2..4;

/// The shipped code's plain statics serve one model at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Checks `model` in every interleaving with at most `preemptions` forced changes of the running thread
/// (LOOM_MAX_PREEMPTIONS sets another number). What weak memory may show is explored too.
pub fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut builder = Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.max_branches = 20_000;
    let begun = Instant::now();
    let count = Arc::new(AtomicU64::new(0));
    let counter = count.clone();
    builder.check(move || {
        counter.fetch_add(1, Relaxed);
        atomic::reset();
        os::reset();
        keys::reset();
        model();
    });
    let (count, time) = (count.load(Relaxed), begun.elapsed());
    println!("{count} interleavings in {time:.1?}");
}

/// Starts a thread of a model.
pub fn spawn<T: 'static>(f: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    atomic::threads_start();
    loom::thread::spawn(f)
}

/// A heap whose shard is empty. Models use numbers 2 and 3.
pub fn heap(number: u32) -> &'static Heap {
    assert!(SHARDS.contains(&number));
    *shard::of_owner(number).lock() = Pool::new(number);
    let heap = os::map(size_of::<Heap>()).expect("the arena has room");
    let heap = heap.cast::<Heap>().as_ptr();
    // SAFETY: the memory is mapped for this and is not unmapped during the execution.
    unsafe {
        heap.write(Heap::new(number, Rank::Heap));
        &*heap
    }
}
