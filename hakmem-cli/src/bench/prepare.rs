//! Before the first run: build, verify, and let every contestant pass a sanity run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail};

use super::suite::Item;
use crate::{
    allocator::Allocator,
    cli::Build,
    lab::{
        Built, Discarded, Workload,
        metric::{Choice, Metric},
        runner::Plan,
    },
    proof::Session as Witness,
};

/// The crates whose build results a clean build starts without.
const MEASURED: [&str; 2] = ["hakmem-core", "hakmem-preload"];

/// Builds library and programs as asked.
pub fn build(top: &Path, how: Build) -> Result<Built> {
    let mut built = Built::default();
    match how {
        Build::Clean => {
            "clean".clone_into(&mut built.how);
            let folder = top.join("build");
            if folder.is_dir() {
                fs::remove_dir_all(&folder).context("cannot remove build/")?;
            }
            let mut clean = Command::new("cargo");
            clean.args(["clean", "--release", "--quiet"]);
            clean.args(MEASURED.iter().flat_map(|name| ["-p", name]));
            run(clean.current_dir(top))?;
            make(top, &mut built)?;
        }
        Build::Incremental => {
            "incremental".clone_into(&mut built.how);
            make(top, &mut built)?;
        }
        Build::None => "as found".clone_into(&mut built.how),
    }
    Ok(built)
}

fn make(top: &Path, built: &mut Built) -> Result<()> {
    let mut command = Command::new("make");
    command.args(["lib", "benches"]).current_dir(top);
    built.command = "make lib benches".to_owned();
    let output = run(&mut command)?;
    let done = output.lines().filter(|line| line.starts_with('✓')).count();
    let last = output
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or("up to date");
    built.message = match done {
        0 => last.trim().to_owned(),
        _ => format!("{done} programs built with hakmem and verified"),
    };
    Ok(())
}

/// The repository's check of the shared library; a failure ends the session.
pub fn verify(top: &Path, library: &Path) -> Result<Option<(String, String)>> {
    let script = top.join("verify/verify_so.sh");
    if !script.is_file() {
        return Ok(None);
    }
    let output = run(Command::new(&script).arg(library).current_dir(top))
        .context("the library fails verify/verify_so.sh, so it is not measured")?;
    let last = output
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or("passed");
    Ok(Some((
        "verify/verify_so.sh".to_owned(),
        last.trim().to_owned(),
    )))
}

fn run(command: &mut Command) -> Result<String> {
    let shown = format!("{command:?}").replace('"', "");
    let output = command
        .output()
        .with_context(|| format!("cannot run {shown}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = text.lines().chain(errors.lines()).collect();
    bail!(
        "{shown} failed:\n{}",
        lines[lines.len().saturating_sub(12)..].join("\n")
    )
}

/// The suite's workloads as commands. The plain programs serve all contestants: the allocator is
/// the only difference.
pub fn workloads(top: &Path, items: &[Item], only: Option<&str>) -> Result<Vec<Workload>> {
    let chosen = items
        .iter()
        .filter(|item| only.is_none_or(|text| item.name.contains(text)));
    let list: Result<Vec<Workload>> = chosen.map(|item| workload(top, item)).collect();
    let list = list?;
    if list.is_empty() {
        let names: Vec<&str> = items.iter().map(|item| item.name).collect();
        bail!(
            "--only matches no workload of the suite: {}",
            names.join(", ")
        );
    }
    Ok(list)
}

fn workload(top: &Path, item: &Item) -> Result<Workload> {
    let program: PathBuf = top.join(format!("{}_system", item.program));
    if !program.is_file() {
        bail!(
            "{} is not built: run without `--build none`",
            program.display()
        );
    }
    let mut command = vec![program.to_string_lossy().into_owned()];
    command.extend(item.args.split(' ').map(str::to_owned));
    command.push("--json".to_owned());
    Ok(Workload {
        name: item.name.to_owned(),
        command,
    })
}

/// Runs every program once, small, on every contestant, the baseline first: it has to end well,
/// be proven, and compute what it computes on the baseline.
pub fn sanity(
    allocators: &[Allocator],
    workloads: &[Workload],
    timeout: Duration,
) -> Result<Vec<Discarded>> {
    let witness = Witness::new()?;
    let choice = Choice {
        metric: Metric::Time,
        pattern: None,
    };
    let plan = Plan {
        allocators,
        workloads,
        rounds: 0,
        seed: 0,
        timeout,
        choice: &choice,
        accept_silent_end: false,
        excluded: Vec::new(),
    };
    let mut programs: Vec<&String> = workloads.iter().filter_map(|w| w.command.first()).collect();
    programs.sort_unstable();
    programs.dedup();
    let mut discarded = Vec::new();
    for program in programs {
        let command = vec![program.clone(), "--quick".to_owned(), "--json".to_owned()];
        let small = Workload {
            name: String::new(),
            command,
        };
        let mut expected = None;
        for allocator in allocators {
            let run = plan.measure(&witness, &small, allocator)?;
            let wanted = expected.get_or_insert_with(|| run.checksum.clone());
            let reason = match run.discarded {
                None if run.checksum.is_none() => "prints no result".to_owned(),
                None if run.checksum != *wanted => {
                    "computes something else than the baseline".to_owned()
                }
                None => continue,
                Some(reason) => reason,
            };
            let concerned = workloads
                .iter()
                .filter(|w| w.command.first() == Some(program));
            discarded.extend(concerned.map(|workload| Discarded {
                allocator: allocator.label.clone(),
                workload: Some(workload.name.clone()),
                reason: format!("sanity run: {reason}"),
            }));
        }
    }
    Ok(discarded)
}
