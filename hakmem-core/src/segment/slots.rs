//! A few lock-free places for freed huge blocks that are kept for reuse.
//!
//! | `record` | the slot is |
//! |---|---|
//! | null | empty |
//! | [`FILLING`] | being filled: for that moment nobody else's |
//! | else | full: the record is for whoever exchanges it for null |
//!
//! Whoever looks for a block reads the slot, not the record, which is another thread's until it is taken out. Address
//! and length in the slot are a hint: the slot may have changed hands in between.

use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
use core::ptr::{null_mut, without_provenance_mut};

pub const LEN: usize = if cfg!(loom) { 2 } else { 16 };
const FILLING: usize = 1;

struct Slot<T> {
    record: AtomicPtr<T>,
    address: AtomicUsize,
    len: AtomicUsize,
}

pub struct Slots<T>([Slot<T>; LEN]);

impl<T> Slot<T> {
    fn full(&self) -> Option<*mut T> {
        let record = self.record.load(Acquire);
        (record.addr() > FILLING).then_some(record)
    }

    fn exchange(&self, from: *mut T, to: *mut T) -> bool {
        self.record
            .compare_exchange(from, to, Acquire, Relaxed)
            .is_ok()
    }
}

impl<T> Slots<T> {
    pub const fn new() -> Slots<T> {
        Slots(
            [const {
                Slot {
                    record: AtomicPtr::new(null_mut()),
                    address: AtomicUsize::new(0),
                    len: AtomicUsize::new(0),
                }
            }; LEN],
        )
    }

    /// Keeps a record for the block of `len` bytes at `address`; false when all slots are full.
    pub fn put(&self, record: *mut T, address: usize, len: usize) -> bool {
        let filling = without_provenance_mut(FILLING);
        for slot in &self.0 {
            if slot.record.load(Relaxed).is_null() && slot.exchange(null_mut(), filling) {
                slot.address.store(address, Relaxed);
                slot.len.store(len, Relaxed);
                slot.record.store(record, Release);
                return true;
            }
        }
        false
    }

    /// Takes out a record whose block `fits(address, len)`, as far as the slot knows.
    pub fn take(&self, fits: impl Fn(usize, usize) -> bool) -> Option<*mut T> {
        self.0.iter().find_map(|slot| {
            let record = slot.full()?;
            let fits = fits(slot.address.load(Relaxed), slot.len.load(Relaxed));
            (fits && slot.exchange(record, null_mut())).then_some(record)
        })
    }

    /// After fork, in the child: who was filling a slot does not exist there.
    pub fn reset_after_fork(&self) {
        for slot in &self.0 {
            slot.exchange(without_provenance_mut(FILLING), null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_as_many_as_there_are_slots_and_finds_what_fits() {
        let mut records = [0u64; LEN + 1];
        let at: Vec<*mut u64> = records.iter_mut().map(|record| &raw mut *record).collect();
        let slots = Slots::new();
        for (i, &record) in at.iter().enumerate() {
            assert_eq!(slots.put(record, i << 16, i), i < LEN);
        }
        assert_eq!(slots.take(|_, len| len > LEN), None);
        assert_eq!(
            slots.take(|address, len| address == 5 << 16 && len == 5),
            Some(at[5])
        );
        assert_eq!(slots.take(|_, len| len == 5), None);
        assert!(slots.put(at[LEN], 0, LEN));
        let rest = core::iter::from_fn(|| slots.take(|_, _| true));
        assert_eq!(rest.count(), LEN);
    }

    #[test]
    fn a_slot_whose_filler_is_gone_is_empty_after_fork() {
        let mut record = 0u64;
        let slots = Slots::new();
        slots.0[0]
            .record
            .store(without_provenance_mut(FILLING), Relaxed);
        assert_eq!(slots.take(|_, _| true), None);
        slots.reset_after_fork();
        assert!(slots.put(&raw mut record, 0, 1));
        assert_eq!(slots.0[0].full(), Some(&raw mut record));
    }
}
