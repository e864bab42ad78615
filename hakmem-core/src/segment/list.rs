//! Doubly linked lists of SuperSlabs, threaded through one of their links.

use super::super_slab::{Link, SuperSlab};
use core::ptr::null_mut;

/// Which link of a SuperSlab a list uses.
pub trait Threads {
    /// # Safety
    /// `s` is a valid SuperSlab record.
    unsafe fn link(s: *mut SuperSlab) -> *mut Link;
}

pub struct ByFree;
pub struct ByDirt;

impl Threads for ByFree {
    unsafe fn link(s: *mut SuperSlab) -> *mut Link {
        // SAFETY: INV-RECORD: as the caller promises.
        unsafe { &raw mut (*s).by_free }
    }
}

impl Threads for ByDirt {
    unsafe fn link(s: *mut SuperSlab) -> *mut Link {
        // SAFETY: INV-RECORD: as the caller promises.
        unsafe { &raw mut (*s).by_dirt }
    }
}

/// A list whose members are guarded by the shard's lock.
pub struct List<T: Threads> {
    pub first: *mut SuperSlab,
    pub last: *mut SuperSlab,
    threads: core::marker::PhantomData<T>,
}

impl<T: Threads> List<T> {
    pub const fn new() -> Self {
        List {
            first: null_mut(),
            last: null_mut(),
            threads: core::marker::PhantomData,
        }
    }

    /// # Safety
    /// `s` is a valid record on no list of this kind.
    pub unsafe fn push_front(&mut self, s: *mut SuperSlab) {
        // SAFETY: INV-RECORD: members are valid while the shard's lock is held.
        unsafe {
            *T::link(s) = Link {
                next: self.first,
                prev: null_mut(),
            };
            match self.first.is_null() {
                true => self.last = s,
                false => (*T::link(self.first)).prev = s,
            }
        }
        self.first = s;
    }

    /// # Safety
    /// `s` is a valid record on no list of this kind.
    pub unsafe fn push_back(&mut self, s: *mut SuperSlab) {
        // SAFETY: INV-RECORD: members are valid while the shard's lock is held.
        unsafe {
            *T::link(s) = Link {
                next: null_mut(),
                prev: self.last,
            };
            match self.last.is_null() {
                true => self.first = s,
                false => (*T::link(self.last)).next = s,
            }
        }
        self.last = s;
    }

    /// # Safety
    /// `s` is on this list.
    pub unsafe fn remove(&mut self, s: *mut SuperSlab) {
        // SAFETY: INV-RECORD: members are valid while the shard's lock is held.
        unsafe {
            let Link { next, prev } = core::ptr::read(T::link(s));
            match prev.is_null() {
                true => self.first = next,
                false => (*T::link(prev)).next = next,
            }
            match next.is_null() {
                true => self.last = prev,
                false => (*T::link(next)).prev = prev,
            }
        }
    }
}
