//! Writes include/hakmem.h from `exports_hak.rs`. With `--check` it compares instead and fails on a difference.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = here.join("../include/hakmem.h");
    let config = cbindgen::Config::from_file(here.join("../cbindgen.toml")).expect("cbindgen.toml");
    let mut text = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(here.join("src/exports_hak.rs"))
        .generate()
        .expect("exports_hak.rs can be read")
        .write(&mut text);

    if env::args().nth(1).as_deref() != Some("--check") {
        fs::write(&file, text).expect("include/hakmem.h can be written");
        return ExitCode::SUCCESS;
    }
    if fs::read(&file).is_ok_and(|committed| committed == text) {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "include/hakmem.h is not what exports_hak.rs says: run `make header` and commit the result"
    );
    ExitCode::FAILURE
}
