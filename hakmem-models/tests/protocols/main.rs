//! Each module is one protocol; docs/CONCURRENCY.md says what it proves.

mod remote_free;
