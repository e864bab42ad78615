//! Link arguments of libhakmem.so: its name, its export list, and the one symbol that the static library must not have.

use std::fmt::Write;
use std::{env, fs, path::Path};

fn main() {
    let here = env::var("CARGO_MANIFEST_DIR").unwrap();
    let list = Path::new(&here).join("../verify/symbols.expected");
    println!("cargo:rerun-if-changed={}", list.display());
    println!("cargo:rerun-if-changed=build.rs");

    // The compiler exports what Rust defines with `no_mangle`; names defined in assembly have to be added. The linker
    // refuses a name of the list that nobody defines.
    let names = fs::read_to_string(&list).unwrap_or_else(|e| panic!("{}: {e}", list.display()));
    let mut script = String::from("{ global:\n");
    for name in names.lines() {
        writeln!(script, "  {name};").unwrap();
    }
    script.push_str("};\n");
    let map = Path::new(&env::var("OUT_DIR").unwrap()).join("exports.map");
    fs::write(&map, script).unwrap();

    for argument in [
        format!("--version-script={}", map.display()),
        // dlopen.rs says why.
        "--defsym=dlopen=hak_dlopen".to_string(),
        "-soname,libhakmem.so".to_string(),
        // Threads that exit after a dlclose still run our code.
        "-z,nodelete".to_string(),
        "-z,now,-z,relro".to_string(),
        "-z,defs".to_string(),
    ] {
        println!("cargo:rustc-cdylib-link-arg=-Wl,{argument}");
    }

    let profile = env::var("PROFILE").unwrap();
    let target = env::var("TARGET").unwrap();
    println!("cargo:rustc-env=HAKMEM_BUILD={profile} {target}");
}
