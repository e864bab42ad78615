//! How many blocks a bin may hold.
#![forbid(unsafe_code)]

use crate::base::size_class::Class;

/// Blocks larger than this are not cached until a miss after a spill shows that it pays.
const CACHE_AT_ONCE: u32 = 32 * 1024;
/// A capacity falls once this many times itself, and a few more, were spilled without a miss.
const PATIENCE: u32 = 8;
const PATIENCE_FLOOR: u32 = 64;
/// Refills bring half as many blocks until a bin has missed this often.
const FEW_MISSES: u8 = 3;
/// What a bin keeps in a thread that only frees.
const LEAST: u16 = 2;

/// The capacity of one bin and what speaks for changing it.
#[derive(Clone, Copy)]
pub struct Room {
    capacity: u16,
    /// The capacity is 0 for good.
    closed: bool,
    /// Misses so far, up to [`FEW_MISSES`].
    misses: u8,
    /// Blocks spilled since the last miss.
    spilled: u32,
}

impl Room {
    pub const fn new() -> Room {
        Room {
            capacity: 0,
            closed: false,
            misses: 0,
            spilled: 0,
        }
    }

    /// The capacity to begin with; for good if it is `closed`, when it is 0.
    pub fn start(class: &Class, closed: bool) -> Room {
        let small = class.size <= CACHE_AT_ONCE;
        Room {
            capacity: if small && !closed { class.batch } else { 0 },
            closed,
            misses: 0,
            spilled: 0,
        }
    }

    /// Blocks that a refill should bring: a little at first, because each block's page is touched.
    pub fn batch(&self, class: &Class) -> u32 {
        match self.misses {
            _ if self.closed => 1,
            FEW_MISSES => class.batch as u32,
            _ => (class.batch as u32).div_ceil(2),
        }
    }

    pub fn capacity(&self) -> i32 {
        self.capacity as i32
    }

    /// The bin was empty. If blocks were spilled before, it was too small. Returns the change of capacity.
    pub fn on_miss(&mut self, class: &Class) -> i32 {
        let before = self.capacity;
        if self.spilled > 0 && !self.closed {
            let wanted = (2 * self.capacity as u32).max(class.batch as u32);
            self.capacity = wanted.min(class.max_room as u32) as u16;
        }
        self.spilled = 0;
        self.misses += (self.misses < FEW_MISSES) as u8;
        self.capacity as i32 - before as i32
    }

    /// The bin was full. True when it has been full for so long that it should be emptied and made small.
    pub fn on_spill(&mut self) -> bool {
        self.spilled = self.spilled.saturating_add(1);
        self.capacity > LEAST && self.spilled > self.capacity as u32 * PATIENCE + PATIENCE_FLOOR
    }

    /// Makes the bin as small as it gets. Returns the change of capacity.
    pub fn shrink(&mut self, class: &Class) -> i32 {
        let before = self.capacity;
        let least = if class.size > CACHE_AT_ONCE { 0 } else { LEAST };
        self.capacity = self.capacity.min(least);
        self.capacity as i32 - before as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::size_class::{CLASSES, class_of};

    #[test]
    fn grows_only_when_a_miss_follows_a_spill() {
        let class = &CLASSES[class_of(64)];
        let mut room = Room::start(class, false);
        let start = room.capacity();
        assert_eq!(room.on_miss(class), 0);
        assert!(!room.on_spill());
        assert_eq!(room.on_miss(class), start);
        assert_eq!(room.on_miss(class), 0);
        for _ in 0..20 {
            room.on_spill();
            room.on_miss(class);
        }
        assert_eq!(room.capacity(), class.max_room as i32);
    }

    #[test]
    fn falls_after_a_long_run_of_spills() {
        let class = &CLASSES[class_of(1000)];
        let mut room = Room::start(class, false);
        let patience = room.capacity() as u32 * PATIENCE + PATIENCE_FLOOR;
        let spills = (1..).find(|_| room.on_spill()).unwrap();
        assert_eq!(spills, patience + 1);
        room.shrink(class);
        assert_eq!(room.capacity(), LEAST as i32);
        assert!(!room.on_spill(), "small enough");
        assert!(room.on_miss(class) > 0, "and it recovers");
    }

    #[test]
    fn large_blocks_are_cached_once_that_pays() {
        let class = &CLASSES[class_of(512 * 1024)];
        let mut room = Room::start(class, false);
        assert_eq!(room.capacity(), 0);
        room.on_spill();
        assert_eq!(room.on_miss(class), 1);
        room.shrink(class);
        assert_eq!(room.capacity(), 0);
    }

    #[test]
    fn closed_rooms_stay_closed() {
        let class = &CLASSES[class_of(64)];
        let mut room = Room::start(class, true);
        for _ in 0..1000 {
            assert!(!room.on_spill());
            assert_eq!(room.on_miss(class), 0);
        }
        assert_eq!((room.capacity(), room.batch(class)), (0, 1));
    }
}
