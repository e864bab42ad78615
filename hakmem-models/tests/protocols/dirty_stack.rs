//! The stack of announced slabs: `slab::remote::DirtyStack`.

use hakmem_models::atomic::{AtomicPtr, AtomicU32, Ordering::*};
use hakmem_models::model;
use hakmem_models::slab::remote::{DirtyStack, Stacked};
use loom::sync::Arc;
use std::ptr::null_mut;

struct Item {
    next: AtomicPtr<Item>,
    depth: AtomicU32,
    /// Who has the duty to drain the item: 0 nobody, 1 the stack or whoever took it from there.
    duty: AtomicU32,
}

// SAFETY: returns its own fields.
unsafe impl Stacked for Item {
    fn next(&self) -> &AtomicPtr<Item> {
        &self.next
    }
    fn depth(&self) -> &AtomicU32 {
        &self.depth
    }
}

struct Model {
    stack: DirtyStack<Item>,
    items: [Item; 3],
}

impl Model {
    fn new() -> Arc<Model> {
        Arc::new(Model {
            stack: DirtyStack::new(),
            items: [const {
                Item {
                    next: AtomicPtr::new(null_mut()),
                    depth: AtomicU32::new(0),
                    duty: AtomicU32::new(0),
                }
            }; 3],
        })
    }

    fn push(&self, index: usize) {
        assert_eq!(self.items[index].duty.swap(1, AcqRel), 0);
        // SAFETY: the items live as long as the stack.
        let depth = unsafe {
            self.stack
                .push((&raw const self.items[index]).cast_mut(), 1)
        };
        assert!(depth >= 1);
    }

    /// Takes all; returns the numbers of the items.
    fn take(&self) -> Vec<usize> {
        let mut taken = vec![];
        let mut next = self.stack.take_all();
        // SAFETY: only items of this model are ever pushed.
        while let Some(item) = unsafe { next.as_ref() } {
            next = item.next.load(Relaxed);
            assert_eq!(item.duty.swap(0, AcqRel), 1, "on the stack twice");
            // SAFETY: both are in the same array.
            taken.push(unsafe { (&raw const *item).offset_from(&self.items[0]) } as usize);
        }
        taken
    }
}

/// Three push while the owner takes all: each item is taken exactly once.
#[test]
fn every_item_is_taken_once() {
    model::check(2, || {
        let model = Model::new();
        let pushers = [0, 1].map(|index| {
            let model = model.clone();
            model::spawn(move || model.push(index))
        });
        let mut taken = model.take();
        model.push(2);
        taken.extend(model.take());
        pushers.into_iter().for_each(|t| t.join().unwrap());
        taken.extend(model.take());
        taken.sort();
        assert_eq!(taken, [0, 1, 2]);
        assert!(model.stack.is_empty());
    });
}

/// The top item is taken and pushed again while another pusher holds the old top in its hands.
#[test]
fn an_item_that_comes_again_harms_nobody() {
    model::check(3, || {
        let model = Model::new();
        model.push(0);
        model.push(1);
        let pusher = {
            let model = model.clone();
            model::spawn(move || model.push(2))
        };
        let mut first = model.take();
        if first.contains(&1) {
            model.push(1);
            first.retain(|&index| index != 1);
        }
        pusher.join().unwrap();
        first.extend(model.take());
        first.sort();
        assert_eq!(first, [0, 1, 2]);
    });
}
