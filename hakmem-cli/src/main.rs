//! `hak`: see `hak --help`.

use std::process::ExitCode;

use clap::Parser;
use hakmem_cli::{cli::Cli, commands, exit, measure::launch};

fn main() -> ExitCode {
    // First of all, while this process is still small: see `measure::launch`.
    if let Some(code) = launch::launcher_main() {
        return ExitCode::from(code as u8);
    }
    let code = commands::execute(Cli::parse()).unwrap_or_else(|error| {
        eprintln!("hak: {error:#}");
        exit::FAILED
    });
    ExitCode::from(code as u8)
}
