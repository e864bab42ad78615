//! `hak completions` and `hak man`.

use std::{fs, io};

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::{
    cli::{Cli, Completions, Man},
    exit,
};

pub fn completions(options: &Completions) -> Result<i32> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "hak", &mut script);
    io::Write::write_all(&mut io::stdout(), &script).context("cannot write")?;
    Ok(exit::OK)
}

pub fn man(options: &Man) -> Result<i32> {
    let command = Cli::command();
    match &options.out {
        None => clap_mangen::Man::new(command).render(&mut io::stdout())?,
        Some(folder) => {
            fs::create_dir_all(folder)?;
            clap_mangen::generate_to(command, folder)
                .with_context(|| format!("cannot write to {}", folder.display()))?;
        }
    }
    Ok(exit::OK)
}
