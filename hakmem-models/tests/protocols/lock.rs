//! The futex lock: `sync::Lock`.

use hakmem_models::model;
use hakmem_models::sync::{Lock, Rank};
use loom::cell::UnsafeCell;
use loom::sync::Arc;

struct Model {
    lock: Lock,
    /// loom fails the model when two are at it at once.
    count: UnsafeCell<u32>,
}

// SAFETY: the cell is what the lock guards.
unsafe impl Sync for Model {}
// SAFETY: as above.
unsafe impl Send for Model {}

impl Model {
    fn new() -> Arc<Model> {
        Arc::new(Model {
            lock: Lock::new(Rank::Heap),
            count: UnsafeCell::new(0),
        })
    }

    fn bump(&self) {
        // SAFETY: the caller holds the lock, or so loom checks.
        self.count.with_mut(|count| unsafe { *count += 1 });
    }

    fn count(&self) -> u32 {
        // SAFETY: as above.
        self.count.with(|count| unsafe { *count })
    }
}

/// Three threads: one at a time holds the lock, sees what the others did, and nobody sleeps for ever (which loom reports
/// as a deadlock).
#[test]
fn excludes_and_wakes() {
    model::check(3, || {
        let model = Model::new();
        let others = [(); 2].map(|_| {
            let model = model.clone();
            model::spawn(move || {
                let _guard = model.lock.lock();
                model.bump();
            })
        });
        {
            let _guard = model.lock.lock();
            model.bump();
        }
        others.into_iter().for_each(|t| t.join().unwrap());
        let _guard = model.lock.try_lock().expect("free");
        assert_eq!(model.count(), 3);
    });
}

/// Two threads take it twice each, so that sleepers meet a lock that is released and taken again.
#[test]
fn is_taken_again_and_again() {
    model::check(3, || {
        let model = Model::new();
        let twice = |model: &Model| {
            for _ in 0..2 {
                let _guard = model.lock.lock();
                model.bump();
            }
        };
        let other = {
            let model = model.clone();
            model::spawn(move || twice(&model))
        };
        twice(&model);
        other.join().unwrap();
        let _guard = model.lock.lock();
        assert_eq!(model.count(), 4);
    });
}

/// A thread holds the lock for a fork, passes through it meanwhile, and lets the others in afterwards.
#[test]
fn a_fork_keeps_others_out() {
    model::check(3, || {
        let model = Model::new();
        let other = {
            let model = model.clone();
            model::spawn(move || {
                let _guard = model.lock.lock();
                model.bump();
            })
        };
        model.lock.prepare_fork();
        model.bump();
        drop(model.lock.lock());
        model.bump();
        model.lock.finish_fork();
        other.join().unwrap();
        let _guard = model.lock.lock();
        assert_eq!(model.count(), 3);
    });
}
