//! `hak peers`.

use anyhow::Result;

use crate::{cli::Peers, exit, peers};

pub fn execute(options: &Peers) -> Result<i32> {
    if options.list {
        return list();
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let request = peers::Options {
        names: options.names.clone(),
        jobs: options.jobs.unwrap_or(cpus).max(1),
        force: options.force,
    };
    let entries = peers::build(&request, &|line| println!("{line}"))?;
    let missing = entries.iter().filter(|entry| entry.error.is_some()).count();
    println!(
        "{} of {} peers are ready",
        entries.len() - missing,
        entries.len()
    );
    Ok(if missing > 0 {
        exit::PEER_MISSING
    } else {
        exit::OK
    })
}

fn list() -> Result<i32> {
    let manifest = peers::manifest()?;
    for name in peers::names()? {
        match manifest.get(&name) {
            Some(entry) => println!("{entry}"),
            None => println!("- {name}: not built"),
        }
    }
    Ok(exit::OK)
}
