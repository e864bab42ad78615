//! Atomics with the size, the layout and the `const` constructors of core's, and the behaviour of loom's.
//!
//! The shipped code keeps atomics in statics and in memory that it maps itself and takes as zero, where a loom atomic
//! can't live. So the one here is only an address, and a table of the running execution says what is behind it:
//! until threads start a plain value, then a loom atomic. The memory itself keeps its first value, so statics begin
//! afresh in every execution.

pub use loom::sync::atomic::{Ordering, fence};

use loom::sync::atomic::AtomicU64 as LoomAtomic;
use std::cell::{RefCell, UnsafeCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Atomics that threads may touch first after they were started, in one execution.
const SPARE: usize = 200;

/// What is behind an address.
#[derive(Clone)]
enum Modelled {
    /// Before threads start; counted in when arithmetic has touched it.
    Plain { value: u64, counts: bool },
    /// `changed` holds `value ^ first`, so that the loom atomic may be made before anybody knows what it stands for.
    Shared { first: u64, changed: Rc<Pair> },
}

struct Pair {
    value: LoomAtomic,
    /// loom remembers only the last access to an object: a load hides an earlier load by another thread, so that a
    /// store that follows in the same thread is never tried before the other's load. To loads this one is changed
    /// first, which makes loom try them in either order, and then the store finds the load.
    loads: LoomAtomic,
}

impl Pair {
    fn new(value: u64) -> Pair {
        Pair {
            value: LoomAtomic::new(value),
            loads: LoomAtomic::new(0),
        }
    }
}

#[derive(Default)]
struct Table {
    by_address: BTreeMap<usize, Modelled>,
    /// Made before any thread was started, so that their creation happens before every access.
    spare: Vec<Rc<Pair>>,
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
        if table.threads_run {
            return;
        }
        table.threads_run = true;
        table.spare = (0..SPARE).map(|_| Rc::new(Pair::new(0))).collect();
        for modelled in table.by_address.values_mut() {
            if let Modelled::Plain {
                value,
                counts: true,
            } = *modelled
            {
                *modelled = Modelled::Shared {
                    first: 0,
                    changed: Rc::new(Pair::new(value)),
                };
            }
        }
    });
}

/// One operation on the atomic at `address`, whose memory holds `first`: `plain` before threads start, else `shared` on
/// the loom atomic, with the value that its zero stands for.
fn operate<T>(
    address: usize,
    first: u64,
    arithmetic: bool,
    plain: impl FnOnce(&mut u64) -> T,
    shared: impl FnOnce(&Pair, u64) -> T,
) -> T {
    let (changed, first) = {
        let mut table = TABLE.take();
        let modelled = table.by_address.entry(address).or_insert(Modelled::Plain {
            value: first,
            counts: false,
        });
        let found = match modelled {
            Modelled::Plain { value, counts } if !table.threads_run => {
                *counts |= arithmetic;
                Err(plain(value))
            }
            Modelled::Plain { value, .. } => {
                let (first, changed) = (*value, table.spare.pop().expect("SPARE is too small"));
                *modelled = Modelled::Shared {
                    first,
                    changed: changed.clone(),
                };
                Ok((changed, first))
            }
            Modelled::Shared { first, changed } => Ok((changed.clone(), *first)),
        };
        TABLE.set(table);
        match found {
            Err(done) => return done,
            Ok(found) => found,
        }
    };
    assert!(
        !arithmetic || first == 0,
        "arithmetic on an atomic that is not zero at first"
    );
    shared(&changed, first)
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

            fn operate<R>(
                &self,
                arithmetic: bool,
                plain: impl FnOnce(&mut u64) -> R,
                shared: impl FnOnce(&Pair, u64) -> R,
            ) -> R {
                // SAFETY: nothing writes the cell once it can be reached.
                let first = $to(unsafe { *self.first.get() });
                operate(self.first.get().addr(), first, arithmetic, plain, shared)
            }

            pub fn load(&self, order: Ordering) -> $value {
                $from(self.operate(
                    false,
                    |value| *value,
                    |changed, first| {
                        changed.loads.fetch_add(1, Ordering::Relaxed);
                        changed.value.load(order) ^ first
                    },
                ))
            }

            pub fn store(&self, to: $value, order: Ordering) {
                let to = $to(to);
                self.operate(
                    false,
                    |value| *value = to,
                    |changed, first| changed.value.store(to ^ first, order),
                )
            }

            pub fn swap(&self, to: $value, order: Ordering) -> $value {
                let to = $to(to);
                $from(self.operate(
                    false,
                    |value| std::mem::replace(value, to),
                    |changed, first| changed.value.swap(to ^ first, order) ^ first,
                ))
            }

            pub fn compare_exchange(
                &self,
                from: $value,
                to: $value,
                done: Ordering,
                failed: Ordering,
            ) -> Result<$value, $value> {
                let (from, to) = ($to(from), $to(to));
                self.operate(
                    false,
                    |value| match *value == from {
                        true => Ok(std::mem::replace(value, to)),
                        false => Err(*value),
                    },
                    |changed, first| {
                        changed
                            .value
                            .compare_exchange(from ^ first, to ^ first, done, failed)
                            .map(|value| value ^ first)
                            .map_err(|value| value ^ first)
                    },
                )
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
            arithmetic!(fetch_or, $value, |value, by| value | by);
            arithmetic!(fetch_and, $value, |value, by| value & by);
            arithmetic!(fetch_add, $value, u64::wrapping_add);
            arithmetic!(fetch_sub, $value, u64::wrapping_sub);
        }
    };
}

macro_rules! arithmetic {
    ($name:ident, $value:ty, $apply:expr) => {
        pub fn $name(&self, by: $value, order: Ordering) -> $value {
            let (by, apply): (u64, fn(u64, u64) -> u64) = (by as u64, $apply);
            self.operate(
                true,
                |value| std::mem::replace(value, apply(*value, by)),
                |changed, _| changed.value.$name(by, order),
            ) as $value
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
