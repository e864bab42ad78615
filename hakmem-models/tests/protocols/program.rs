//! What a program and the front do with heaps, as far as the models need it.

use hakmem_models::base::size_class::{CLASSES, NUM_CLASSES};
use hakmem_models::heap::{self, Heap};
use hakmem_models::os;
use hakmem_models::slab::{self, remote::Freed};
use std::ptr::null_mut;

/// 16 KiB: four blocks in a slab of one granule.
pub const FEW: usize = 35;
/// 1 MiB: a slab of 16 granules is one block, so that whoever frees it helps the owner.
pub const ONE: usize = NUM_CLASSES - 1;
/// 16 B: many words of bits, and another shape than [`FEW`].
pub const SMALL: usize = 0;

#[test]
fn classes_are_what_the_models_think() {
    let shape = |class: usize| {
        (
            CLASSES[class].size,
            CLASSES[class].granules,
            CLASSES[class].blocks,
        )
    };
    assert_eq!(shape(FEW), (16 << 10, 1, 4));
    assert_eq!(shape(ONE), (1 << 20, 16, 1));
    assert_eq!(shape(SMALL), (16, 1, 4096));
}

/// A block's address, which may go to another thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block(pub *mut u8);

// SAFETY: the models hand blocks over, as programs do.
unsafe impl Send for Block {}

/// Takes a block of `class`.
pub fn take(heap: &'static Heap, class: usize) -> Block {
    let mut locked = heap.lock();
    let taken = locked.take(class, 1, null_mut());
    assert_eq!(locked.unlock(), None);
    assert_eq!(taken.count, 1);
    os::hold(taken.first, CLASSES[class].size as usize);
    Block(taken.first)
}

/// Frees a block that another thread's heap owns, as the front does.
pub fn free_remotely(block: Block) {
    os::let_go(block.0);
    let record = slab::slab_of(block.0);
    // SAFETY: INV-RECORD: slab records are never unmapped; the block is held, so its granule has one.
    unsafe {
        let index = (*record).index_of(block.0).expect("starts a block");
        match (*record).free_remotely(index) {
            Freed::Recorded => {}
            Freed::Twice => panic!("free already"),
            Freed::Announce => {
                if let Some(owner) = slab::announce(record) {
                    assert_eq!(heap::help(owner), None);
                }
            }
        }
    }
}

/// Brings home what others freed.
pub fn drain(heap: &'static Heap) {
    let mut locked = heap.lock();
    locked.drain();
    assert_eq!(locked.unlock(), None);
}

/// Checks a heap, and that `held` of the blocks of `class` in its slabs are in somebody's hands and none is on its way.
#[track_caller]
pub fn assert_holds(heap: &'static Heap, class: usize, held: u64) {
    let locked = heap.lock();
    assert_eq!(locked.check(), Ok(()));
    locked.each_slab(|slab| assert!(!slab.is_dirty(), "an announcement is lost"));
    let (issued, returned) = locked.traffic(class);
    assert_eq!(issued - returned, held, "blocks held");
    assert_eq!(locked.unlock(), None);
    assert!(heap.owner.dirty.is_empty());
}
