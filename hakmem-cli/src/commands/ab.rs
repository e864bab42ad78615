//! `hak ab`.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::bench::{
    command_line, default_folder, discarded_runs, load_warning, now, report_caveats, tell,
};
use crate::{
    allocator::Allocator,
    cli::Ab,
    exit,
    lab::{
        Built, Contestant, Metric, Session, Workload, data::SCHEMA, metric::Choice, runner::Plan,
        summary::summarise,
    },
    measure::machine::{Commit, Machine},
    place,
    proof::Session as Witness,
    report::{files, table},
};

const ALSO: [Metric; 4] = [Metric::Wall, Metric::Rss, Metric::Faults, Metric::Switches];

pub fn execute(options: &Ab) -> Result<i32> {
    let choice = Choice::parse(&options.metric)?;
    let allocators = pair(options)?;
    let witness = Witness::new()?;
    let mut contestants = Vec::new();
    for allocator in &allocators {
        let version = witness
            .preflight(allocator)
            .with_context(|| format!("{} is not what it should be", allocator.label))?;
        contestants.push(Contestant::new(allocator, version));
    }
    let workload = workload(options);
    let plan = Plan {
        allocators: &allocators,
        workloads: std::slice::from_ref(&workload),
        rounds: options.runs,
        seed: options.seed,
        timeout: Duration::from_secs(options.timeout),
        choice: &choice,
        accept_silent_end: true,
        excluded: Vec::new(),
    };
    let warnings = load_warning().into_iter().collect();
    for allocator in &allocators {
        for _ in 0..options.warmup.max(1) {
            let run = plan.measure(&witness, &workload, allocator)?;
            if let Some(reason) = run.discarded {
                bail!("{} on {}: {reason}", workload.name, allocator.label);
            }
        }
    }
    let mut runs = plan.execute(&tell)?;
    if options.higher_is_better {
        // Turned over, so that less is better here too.
        for number in runs.iter_mut().filter_map(|run| run.number.as_mut()) {
            *number = 1.0 / *number;
        }
    }
    let folder = std::env::current_dir()?;
    let mut session = Session {
        schema: SCHEMA,
        title: format!(
            "hak ab: {} against {}",
            allocators[1].label, allocators[0].label
        ),
        created: now(),
        command: command_line(),
        commit: Commit::of(&place::repository().unwrap_or(folder)),
        built: Built::default(),
        machine: Machine::here(),
        seed: options.seed,
        rounds: options.runs,
        baseline: allocators[0].label.clone(),
        headline: choice.metric,
        contestants,
        workloads: vec![workload],
        rows: Vec::new(),
        discarded: discarded_runs(&runs),
        warnings,
        runs,
    };
    let mut metrics = vec![choice.metric];
    metrics.extend(ALSO.iter().filter(|metric| **metric != choice.metric));
    summarise(&mut session, &metrics);
    finish(options, &session)
}

/// A and B; the same allocator twice gets another label, so that A/A can be tried.
fn pair(options: &Ab) -> Result<Vec<Allocator>> {
    let a = Allocator::parse(&options.a).context("--a")?;
    let mut b = Allocator::parse(&options.b).context("--b")?;
    if a.label == b.label {
        b.label.push_str(" (B)");
    }
    Ok(vec![a, b])
}

fn workload(options: &Ab) -> Workload {
    let command: Vec<String> = options
        .command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let name = command
        .first()
        .map_or("", |p| p.rsplit('/').next().unwrap_or(p))
        .to_owned();
    Workload { name, command }
}

fn finish(options: &Ab, session: &Session) -> Result<i32> {
    println!("{}", table::workloads(session));
    let name = &session.workloads[0].name;
    let label = &session.contestants[1].label;
    match session
        .row(name, label, session.headline)
        .and_then(|row| row.ratio.zip(row.verdict.clone()))
    {
        None => println!("no verdict: too few runs that count, or figures that are 0"),
        Some((interval, verdict)) => {
            let reason = match verdict.reason.as_str() {
                "" => String::new(),
                reason => format!(" ({reason})"),
            };
            println!(
                "{} of {label} against {}: {}{reason}, ratio {}",
                session.headline,
                session.baseline,
                verdict.word,
                table::ratio(&interval)
            );
        }
    }
    report_caveats(session);
    let folder = match &options.out {
        Some(folder) => folder.clone(),
        None => default_folder("ab")?,
    };
    files::write(&folder, session, &[])?;
    println!("report: {}", folder.join("report.html").display());
    Ok(if session.discarded.is_empty() {
        exit::OK
    } else {
        exit::DISCARDED
    })
}
