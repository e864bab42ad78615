//! `hak run`.

use std::{
    os::unix::process::{CommandExt, ExitStatusExt},
    process::Command,
};

use anyhow::{Context, Result, anyhow};

use crate::{
    allocator::Allocator,
    cli::Run,
    exit, names,
    proof::{HakmemRecord, Session, judge, session::Detail},
};

/// Presets of the library's HAKMEM_PROFILE.
const PROFILES: [&str; 7] = [
    "balanced",
    "throughput",
    "low-rss",
    "latency",
    "MIXED_TINYV3_C7_SAFE",
    "C6_HEAVY_LEGACY_POOLV1",
    "DEBUG_TINY_FRONT_PERF",
];

pub fn execute(options: &Run) -> Result<i32> {
    let hakmem = Allocator::parse("hakmem")?;
    let [program, args @ ..] = &options.command[..] else {
        return Err(anyhow!("no program"));
    };
    let mut command = Command::new(program);
    command.args(args);
    if let Some(profile) = &options.profile {
        if !PROFILES.contains(&profile.as_str()) {
            return Err(names::unknown("profile", profile, &PROFILES));
        }
        command.env("HAKMEM_PROFILE", profile);
    }
    if !options.stats && !options.proof {
        command.env("LD_PRELOAD", hakmem.preload(None));
        let error = command.exec();
        return Err(error).with_context(|| format!("cannot run {}", program.to_string_lossy()));
    }
    let session = Session::new()?;
    command.envs(session.environment(&hakmem, Detail::End));
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot run {}", program.to_string_lossy()))?;
    let pid = child.id() as i32;
    let status = child.wait()?;
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    let own = session.hakmem_records()?;
    let main = own.iter().rfind(|record| record.pid == pid);
    if options.stats {
        print_statistics(main, &own);
    }
    if options.proof {
        let probe = session.probe_records()?;
        let refusals = judge(&hakmem, probe.iter().rfind(|r| r.pid == pid), main);
        for refusal in &refusals {
            eprintln!("hak: not proven: {refusal}");
        }
        if !refusals.is_empty() {
            eprintln!("hak: `hak proof -- CMD` tells more");
            return Ok(exit::NOT_PROVEN);
        }
        let blocks = main.map_or(0, |record| record.served.blocks);
        eprintln!(
            "hak: proven: all allocation functions are hakmem's, libc's heap is empty, \
             at least {blocks} blocks served"
        );
    }
    Ok(code)
}

fn print_statistics(main: Option<&HakmemRecord>, all: &[HakmemRecord]) {
    let Some(record) = main else {
        eprintln!("hak: no statistics: the program was killed, left by _exit, or is not on hakmem");
        return;
    };
    let HakmemRecord {
        version,
        served,
        classes,
        cold,
        ..
    } = record;
    eprintln!(
        "hak: hakmem {version}, process {}, {}",
        record.pid, record.exe
    );
    eprintln!(
        "  served      {} blocks, {} bytes (at least)",
        served.blocks, served.bytes
    );
    eprintln!("  peak RSS    {} KiB", record.peak_rss_kib);
    eprintln!(
        "  page faults {} minor, {} major",
        record.minor_faults, record.major_faults
    );
    let entries: Vec<String> = cold.iter().map(|(name, n)| format!("{name} {n}")).collect();
    eprintln!("  slow paths  {}", entries.join(", "));
    let mut busiest: Vec<_> = classes.iter().collect();
    busiest.sort_by_key(|class| std::cmp::Reverse(class.blocks));
    for class in busiest.iter().take(8) {
        eprintln!("  {:>9}-byte blocks: {}", class.size, class.blocks);
    }
    if all.len() > 1 {
        eprintln!(
            "  {} more processes of the tree ran on hakmem",
            all.len() - 1
        );
    }
}
