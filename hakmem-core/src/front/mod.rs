//! A thread's cache of free blocks: one LIFO bin per size class, and the hot paths of malloc and free.
//!
//! Knows `heap`. The hot paths (`alloc.rs`, `free.rs`) hold no loop, lock, system call or option check; each has one
//! cold door. What a thread's slot points to:
//!
//! | slot | meaning | malloc | free |
//! |---|---|---|---|
//! | [`NEW`] | the thread has not allocated yet | cold door attaches a front | remote |
//! | a front | normal | bin, else refill | own block: bin; else cold door |
//! | [`BUSY`] | a thread without a front is inside a cold path | emergency mapping | remote, no lock |
//! | [`ENDED`] | the thread's front is gone (late destructors) | heap of orphans | remote |
//!
//! The static three have empty bins and a tag that matches no block, so the hot paths need no check for them.
//!
//! A bin's `room` is how many more blocks it may take. A free that finds none goes to the *spill*, a short buffer that
//! is given to the slabs in one go; a miss after that raises the bin's capacity, a long run of spills without a miss
//! lowers it (`room.rs`). So a cache is as deep as its thread's use swings, and a thread that only frees keeps little.

mod alloc;
mod attach;
mod cold;
mod enter;
mod free;
mod registry;
mod room;
mod spill;

pub use alloc::{alloc, alloc_class, alloc_or, alloc_zeroed_class};
pub use attach::{stop_caching, trim_thread};
pub use cold::{alloc_huge, take_from_slab};
pub use enter::{Entry, enter};
pub use free::{Bad, free};
pub(crate) use free::{result_of, what_else};
pub use registry::{after_fork_in_child, cached_blocks, cold_counts, mapped};

use crate::base::size_class::{CLASSES, FRONT_TABLE, NUM_CLASSES, TABLE_LEN};
use crate::heap::Heap;
use crate::os;
use crate::sync::Rank;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use room::Room;

/// Blocks that wait to be given to their slabs together.
const SPILL: usize = 32;

/// The free blocks of one class. The links are the blocks' first words.
#[repr(C, align(16))]
struct Bin {
    head: *mut u8,
    room: i32,
}

/// Everything of one thread. Only that thread uses the fields before `heap`, except where a comment says so.
#[repr(C, align(64))]
pub struct Front {
    /// First, so that a bin's address is the front's plus 8 times a table entry.
    bins: [Bin; NUM_CLASSES],
    /// Twice the class, by `(size + 15) / 16`.
    table: [u8; TABLE_LEN],
    /// `owner << 8`: a tag of the page map differs from it only in the low byte if the block is this thread's.
    tag: u64,
    /// The thread is inside a cold path. Read by signal handlers of the same thread.
    busy: bool,
    /// Rounds of thread-exit destructors seen.
    exit_rounds: u8,
    spilled: u32,
    /// Each with its class.
    spill: [(*mut u8, u8); SPILL],
    rooms: [Room; NUM_CLASSES],
    /// Cold-path entries, by [`Entry`]. Read by other threads for statistics.
    entries: [u64; Entry::COUNT],
    next_free: *mut Front,
    state: registry::State,
    heap: Heap,
}

// SAFETY: INV-FRONT: each front is used by one thread; what others read is documented at the fields.
unsafe impl Sync for Front {}

/// No owner has this number.
const NOBODY: u32 = 0xff_ffff;

impl Front {
    /// A front without blocks and without a table: its first allocation of any size takes the cold door.
    const fn unattached() -> Front {
        Front {
            bins: [const {
                Bin {
                    head: null_mut(),
                    room: 0,
                }
            }; NUM_CLASSES],
            table: [0; TABLE_LEN],
            tag: (NOBODY as u64) << 8,
            busy: false,
            exit_rounds: 0,
            spilled: 0,
            spill: [(null_mut(), 0); SPILL],
            rooms: [const { Room::new() }; NUM_CLASSES],
            entries: [0; Entry::COUNT],
            next_free: null_mut(),
            state: registry::State::new(),
            heap: Heap::new(NOBODY, Rank::Heap),
        }
    }

    /// Makes zeroed memory a front with the given owner number.
    ///
    /// # Safety
    /// `at` is zeroed memory for a front that nobody else knows.
    unsafe fn init(at: *mut Front, number: u32) {
        // SAFETY: INV-FRONT: as the caller promises. The heap is written whole, the rest is zero where not set.
        unsafe {
            (&raw mut (*at).heap).write(Heap::new(number, Rank::Heap));
            (*at).tag = (number as u64) << 8;
            (*at).table = FRONT_TABLE;
            Front::reset(at);
        }
    }

    /// Empties the bins and the spill, forgetting what they hold, and puts capacities back to their start.
    ///
    /// # Safety
    /// No thread uses the front.
    unsafe fn reset(at: *mut Front) {
        // SAFETY: INV-FRONT: as the caller promises.
        unsafe {
            Front::set_rooms(at);
            (*at).spilled = 0;
            (*at).busy = false;
            (*at).exit_rounds = 0;
        }
    }

    /// Puts capacities to their start, with bins that are empty or forgotten.
    ///
    /// # Safety
    /// The front is the calling thread's, inside a cold path, or no thread's.
    unsafe fn set_rooms(at: *mut Front) {
        let cacheless = CACHELESS.load(Relaxed);
        for (class, what) in CLASSES.iter().enumerate() {
            let room = Room::start(what, cacheless);
            // SAFETY: INV-FRONT: as the caller promises.
            unsafe {
                (*at).rooms[class] = room;
                (*at).bins[class] = Bin {
                    head: null_mut(),
                    room: room.capacity(),
                };
            }
        }
    }
}

/// Threads cache nothing: every call enters its cold door, which a signal handler may interrupt anywhere.
static CACHELESS: AtomicBool = AtomicBool::new(false);

pub static NEW: Front = Front::unattached();
static BUSY: Front = Front::unattached();
static ENDED: Front = Front::unattached();

crate::thread_slot!(NEW);

/// The calling thread's front, or one of the static ones.
#[inline(always)]
fn current() -> *mut Front {
    os::thread_slot_read().cast()
}

fn set_current(front: *const Front) {
    os::thread_slot_write(front.cast_mut().cast());
}

fn is_static(front: *const Front) -> bool {
    front == &raw const NEW || front == &raw const BUSY || front == &raw const ENDED
}

/// The bin that a table entry or a tag's low byte leads to.
///
/// # Safety
/// `front` is valid and `twice_class` is twice a class number.
#[inline(always)]
unsafe fn bin_at(front: *mut Front, twice_class: usize) -> *mut Bin {
    // SAFETY: INV-FRONT: bins come first and take 16 bytes each.
    os::opaque(unsafe { front.cast::<u8>().add(twice_class * 8) }).cast()
}
