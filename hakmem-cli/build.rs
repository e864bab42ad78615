//! Compiles the probe, a C preload library, so that `hak` can carry it inside itself.

use std::{env, path::PathBuf};

const SOURCE: &str = "probe/hakprobe.c";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    let output = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut compiler = cc::Build::new()
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .get_compiler()
        .to_command();
    let status = compiler
        .args(["-std=gnu11", "-Werror", "-fPIC", "-shared", "-fno-builtin"])
        .args(["-fvisibility=hidden", "-Wl,-z,now,-z,relro,--no-undefined"])
        .arg(SOURCE)
        .arg("-o")
        .arg(output.join("libhakprobe.so"))
        .status()
        .expect("a C compiler is needed to build hak");
    assert!(status.success(), "{SOURCE} does not compile");
}
