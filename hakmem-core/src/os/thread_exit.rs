//! Being told when a thread ends.

use crate::sync::atomic::{AtomicU64, Ordering::*};
use core::ffi::c_void;

/// Destructor rounds that POSIX systems run at least; glibc and musl run exactly these. ThreadSanitizer leaves in the
/// last one, and nothing that it watches may run after it.
pub const ROUNDS: u8 = if cfg!(tsan) { 1 } else { 4 };

const NO_KEY: u64 = u64::MAX;
static KEY: AtomicU64 = AtomicU64::new(NO_KEY);

/// Asks that `destructor(value)` run when the calling thread ends. Always the same `destructor`. False when the system
/// has no key or no memory left: the end then goes unnoticed. May allocate, through the C library.
///
/// # Safety
/// `destructor(value)` may be called when the calling thread ends.
pub unsafe fn arm(value: *mut c_void, destructor: unsafe extern "C" fn(*mut c_void)) -> bool {
    let Some(key) = key(destructor) else {
        return false;
    };
    // SAFETY: INV-OS-RAW: the key was created and is never deleted.
    unsafe { libc::pthread_setspecific(key, value) == 0 }
}

fn key(destructor: unsafe extern "C" fn(*mut c_void)) -> Option<libc::pthread_key_t> {
    let known = KEY.load(Acquire);
    if known != NO_KEY {
        return Some(known as libc::pthread_key_t);
    }
    let mut key = 0;
    // SAFETY: INV-OS-RAW: `key` is written by the call.
    if unsafe { libc::pthread_key_create(&mut key, Some(destructor)) } != 0 {
        return None;
    }
    // Threads that come first at once each make a key; one stays.
    match KEY.compare_exchange(NO_KEY, key as u64, AcqRel, Acquire) {
        Ok(_) => Some(key),
        Err(winner) => {
            // SAFETY: INV-OS-RAW: the key was created above and never used.
            unsafe { libc::pthread_key_delete(key) };
            Some(winner as libc::pthread_key_t)
        }
    }
}
