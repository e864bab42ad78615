//! What each command does, up to its exit code.

mod ab;
mod bench;
mod generate;
mod peers;
mod proof;
mod run;

use anyhow::Result;

use crate::cli::{Cli, Command};

pub fn execute(cli: Cli) -> Result<i32> {
    match cli.command {
        Command::Run(options) => run::execute(&options),
        Command::Proof(options) => proof::execute(&options),
        Command::Bench(options) => bench::execute(&options),
        Command::Ab(options) => ab::execute(&options),
        Command::Peers(options) => peers::execute(&options),
        Command::Completions(options) => generate::completions(&options),
        Command::Man(options) => generate::man(&options),
    }
}
