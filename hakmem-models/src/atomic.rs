//! Atomics with the size, the layout and the `const` constructors of core's, and the behaviour of loom's.
//!
//! The shipped code keeps atomics in statics and in memory that it maps itself and takes as zero, where a loom atomic
//! can't live. So the one here is only an address: the loom atomic that stands for it is found in a table of the running
//! execution. The memory itself keeps its first value, so statics begin afresh in every execution.

pub use loom::sync::atomic::{Ordering, fence};

use loom::sync::atomic::AtomicU64 as Modelled;
use std::cell::{RefCell, UnsafeCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Atomics that threads may touch first after they were started, in one execution.
const SPARE: usize = 160;

#[derive(Default)]
struct Table {
    by_address: HashMap<usize, Rc<Modelled>>,
    /// Made before any thread was started, so that their creation happens before every access.
    spare: Vec<Rc<Modelled>>,
    threads_run: bool,
}

thread_local! {
    // loom runs all threads of a model on one thread of the system.
    static TABLE: RefCell<Table> = RefCell::default();
}

/// Begins an execution.
pub(crate) fn reset() {
    TABLE.take();
}

/// From here on threads run at the same time.
pub(crate) fn threads_start() {
    TABLE.with_borrow_mut(|table| {
        if !table.threads_run {
            table.threads_run = true;
            table.spare = (0..SPARE).map(|_| Rc::new(Modelled::new(0))).collect();
        }
    });
}

fn modelled(address: usize, first: u64) -> Rc<Modelled> {
    TABLE.with_borrow_mut(|table| {
        if let Some(known) = table.by_address.get(&address) {
            return known.clone();
        }
        let new = if table.threads_run {
            assert_eq!(
                first, 0,
                "touch an atomic that is not zero before threads start"
            );
            table.spare.pop().expect("SPARE is too small")
        } else {
            Rc::new(Modelled::new(first))
        };
        table.by_address.insert(address, new.clone());
        new
    })
}

macro_rules! atomic {
    ($name:ident$(<$param:ident>)?, $value:ty, $to:expr, $from:expr) => {
        #[repr(transparent)]
        pub struct $name$(<$param>)? {
            first: UnsafeCell<$value>,
        }

        // SAFETY: threads reach the loom atomic only; the cell is only read.
        unsafe impl$(<$param>)? Sync for $name$(<$param>)? {}
        // SAFETY: as above.
        unsafe impl$(<$param>)? Send for $name$(<$param>)? {}

        impl$(<$param>)? $name$(<$param>)? {
            pub const fn new(value: $value) -> Self {
                Self { first: UnsafeCell::new(value) }
            }

            fn modelled(&self) -> Rc<Modelled> {
                // SAFETY: nothing writes the cell once it can be reached.
                modelled(self.first.get().addr(), $to(unsafe { *self.first.get() }))
            }

            pub fn load(&self, order: Ordering) -> $value {
                $from(self.modelled().load(order))
            }

            pub fn store(&self, value: $value, order: Ordering) {
                self.modelled().store($to(value), order)
            }

            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                $from(self.modelled().swap($to(value), order))
            }

            pub fn compare_exchange(
                &self,
                from: $value,
                to: $value,
                done: Ordering,
                failed: Ordering,
            ) -> Result<$value, $value> {
                self.modelled()
                    .compare_exchange($to(from), $to(to), done, failed)
                    .map($from)
                    .map_err($from)
            }

            pub fn compare_exchange_weak(
                &self,
                from: $value,
                to: $value,
                done: Ordering,
                failed: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(from, to, done, failed)
            }

            pub fn as_ptr(&self) -> *mut $value {
                self.first.get()
            }
        }
    };
}

macro_rules! integer {
    ($name:ident, $value:ty) => {
        atomic!(
            $name,
            $value,
            |value: $value| value as u64,
            |value: u64| value as $value
        );

        impl $name {
            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.modelled().fetch_or(value as u64, order) as $value
            }

            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                // The upper bits, if the type is narrower, are zero.
                self.modelled().fetch_and(value as u64, order) as $value
            }

            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.modelled().fetch_add(value as u64, order) as $value
            }

            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.modelled().fetch_sub(value as u64, order) as $value
            }
        }
    };
}

integer!(AtomicU32, u32);
integer!(AtomicU64, u64);
integer!(AtomicUsize, usize);
atomic!(
    AtomicBool,
    bool,
    |value: bool| value as u64,
    |value: u64| value != 0
);
atomic!(
    AtomicPtr<T>,
    *mut T,
    |value: *mut T| value.expose_provenance() as u64,
    |value: u64| std::ptr::with_exposed_provenance_mut(value as usize)
);
