//! Each module is one protocol; docs/CONCURRENCY.md says what it proves.

mod dirty_stack;
mod hand_over;
mod huge;
mod limbo;
mod lock;
mod page_map;
mod program;
mod purge;
mod remote_free;
mod thread_key;
