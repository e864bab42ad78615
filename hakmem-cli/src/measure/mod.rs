//! One run of one program, measured from outside, and what the machine did meanwhile.

pub mod launch;
pub mod load;
pub mod machine;

pub use launch::{Exit, Launch, Outcome, Usage};
