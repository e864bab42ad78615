//! What `hak bench` runs, and what has to be true before it does.

pub mod prepare;
pub mod suite;
