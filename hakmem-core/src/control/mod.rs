//! What surrounds the allocator: options, fork, misuse reports, messages.

pub mod fork;
pub mod message;
pub mod misuse;
pub mod options;

pub use message::message;
pub use misuse::Misuse;

use crate::front;
use core::sync::atomic::{AtomicBool, Ordering::*};

/// What can be set at start-up.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What happens when the program misuses a pointer.
    pub misuse: Misuse,
    /// Threads cache free blocks.
    pub cache: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            misuse: Misuse::Abort,
            cache: true,
        }
    }
}

static STARTED: AtomicBool = AtomicBool::new(false);

/// Applies `options` and registers the fork handlers, once. The allocator works before this too.
pub fn init(options: &Options) {
    misuse::set_policy(options.misuse);
    if !options.cache {
        front::stop_caching();
    }
    if !STARTED.swap(true, AcqRel) {
        fork::register();
    }
}
