//! Rust thread-locals whose destructors free and allocate, on threads that come and go.
//@ modes=system,preload rows=T05,M07 need=rustc stdout="^40000 dropped\n"
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Owner(HashMap<usize, String>);

impl Drop for Owner {
    fn drop(&mut self) {
        let late: Vec<String> = self.0.values().map(|text| format!("{text}!")).collect();
        assert_eq!(late.len(), 10);
        DROPPED.fetch_add(late.len(), SeqCst);
    }
}

thread_local! {
    static OWNER: RefCell<Owner> = RefCell::new(Owner(HashMap::new()));
}

extern "C" {
    fn dlsym(handle: *const u8, name: *const u8) -> *const u8;
}

fn main() {
    // SAFETY: a null handle means the default search order, and the name ends in a zero byte.
    let ours = unsafe { !dlsym(std::ptr::null(), c"hak_version".as_ptr().cast()).is_null() };
    assert_eq!(ours, std::env::var("TEST_MODE").unwrap() == "preload");
    for _ in 0..500 {
        let threads: Vec<_> = (0..8)
            .map(|t| {
                std::thread::spawn(move || {
                    OWNER.with_borrow_mut(|owner| owner.0.extend((0..10).map(|i| (i, "x".repeat(i * t)))));
                    vec![t as u8; 5000] // freed by the main thread
                })
            })
            .collect();
        for (t, thread) in threads.into_iter().enumerate() {
            assert!(thread.join().unwrap().iter().all(|&byte| byte == t as u8));
        }
    }
    println!("{} dropped", DROPPED.load(SeqCst));
}
