//! Thread keys as POSIX has them, as far as the shipped code uses them.
#![allow(non_camel_case_types)]

use std::cell::RefCell;
use std::ffi::c_void;

pub type pthread_key_t = u32;

/// What became of each key of an execution, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    Live,
    Deleted,
}

thread_local! {
    static KEYS: RefCell<Vec<Key>> = RefCell::default();
}

pub(crate) fn reset() {
    KEYS.take();
}

/// All keys that were created.
pub fn keys() -> Vec<Key> {
    KEYS.with_borrow(Vec::clone)
}

/// # Safety
/// `key` may be written.
pub unsafe fn pthread_key_create(
    key: *mut pthread_key_t,
    _: Option<unsafe extern "C" fn(*mut c_void)>,
) -> i32 {
    KEYS.with_borrow_mut(|keys| {
        keys.push(Key::Live);
        // SAFETY: as the caller promises.
        unsafe { *key = keys.len() as u32 - 1 };
    });
    0
}

/// # Safety
/// None; unsafe as the real one is.
pub unsafe fn pthread_key_delete(key: pthread_key_t) -> i32 {
    KEYS.with_borrow_mut(|keys| {
        assert_eq!(keys[key as usize], Key::Live, "deleted twice");
        keys[key as usize] = Key::Deleted;
    });
    0
}

/// # Safety
/// None; unsafe as the real one is.
pub unsafe fn pthread_setspecific(key: pthread_key_t, _: *const c_void) -> i32 {
    assert_eq!(keys()[key as usize], Key::Live, "used after deletion");
    0
}
