//! The key that tells when a thread ends: `os::thread_exit`.

use hakmem_models::os::thread_exit::arm;
use hakmem_models::{Key, keys, model};
use std::ffi::c_void;
use std::ptr::null_mut;

unsafe extern "C" fn at_exit(_: *mut c_void) {}

fn armed() -> bool {
    // SAFETY: the destructor does nothing.
    unsafe { arm(null_mut(), at_exit) }
}

/// Three threads come first at once: all use the same key, and the others' keys are deleted unused.
#[test]
fn one_key_stays() {
    model::check(3, || {
        let others = [(); 2].map(|_| model::spawn(armed));
        assert!(armed());
        for other in others {
            assert!(other.join().unwrap());
        }
        let before = keys();
        assert_eq!(before.iter().filter(|&&key| key == Key::Live).count(), 1);
        assert!(armed());
        assert_eq!(keys(), before);
    });
}
