//! libFuzzer grows programs that reach new code; the interpreter and its checks are those of hakmem-core's tests.
#![no_main]

#[allow(dead_code, reason = "programs that run at once are not reproducible")]
#[path = "../../hakmem-core/tests/program/mod.rs"]
mod program;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    program::run(bytes, false);
});
