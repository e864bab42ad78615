//! `hak bench`.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result, bail};

use crate::{
    allocator::{Allocator, identity},
    bench::{
        prepare,
        suite::{self, Suite},
    },
    cli::{Bench, Build},
    exit,
    lab::{
        Built, Contestant, Discarded, Metric, Run, Session,
        data::SCHEMA,
        metric::Choice,
        runner::Plan,
        store::{self, Change},
        summary::summarise,
    },
    measure::{
        load,
        machine::{Commit, Machine},
    },
    peers, place,
    proof::Session as Witness,
    report::{files, table},
    stats::Word,
};

const METRICS: [Metric; 6] = [
    Metric::Time,
    Metric::Wall,
    Metric::Cpu,
    Metric::Rss,
    Metric::Faults,
    Metric::Switches,
];
/// What a regression may be in: figures of the allocator rather than of the scheduler.
const COMPARED: [Metric; 3] = [Metric::Time, Metric::Rss, Metric::Faults];

pub fn execute(options: &Bench) -> Result<i32> {
    let top = place::repository()?;
    let suite = suite::find(&options.suite)?;
    // Early, so that a wrong name does not cost the whole session.
    let before = options.against.as_deref().map(store::load).transpose()?;
    let mut warnings: Vec<String> = load_warning().into_iter().collect();
    let built = build(options, &top)?;
    let (allocators, contestants, mut discarded) = contestants(options, suite)?;
    let workloads = prepare::workloads(&top, suite.items, options.only.as_deref())?;
    let timeout = Duration::from_secs(options.timeout);
    tell(&format!(
        "sanity: {} allocators, {} workloads",
        allocators.len(),
        workloads.len()
    ));
    let failed = prepare::sanity(&allocators, &workloads, timeout)?;
    refuse_bad_baseline(&failed, &allocators[0].label)?;
    let excluded: Vec<(String, String)> = failed
        .iter()
        .filter_map(|d| Some((d.workload.clone()?, d.allocator.clone())))
        .collect();
    discarded.extend(failed);
    let rounds = options.runs.unwrap_or(suite.rounds);
    let choice = Choice {
        metric: Metric::Time,
        pattern: None,
    };
    let plan = Plan {
        allocators: &allocators,
        workloads: &workloads,
        rounds,
        seed: options.seed,
        timeout,
        choice: &choice,
        accept_silent_end: false,
        excluded,
    };
    let machine = Machine::here();
    let runs = plan.execute(&tell)?;
    discarded.extend(discarded_runs(&runs));
    if options.build == Build::None {
        warnings.push("built by somebody else: not a clean build of this commit".to_owned());
    }
    let mut session = Session {
        schema: SCHEMA,
        title: format!("hak bench, suite {}", suite.name),
        created: now(),
        command: command_line(),
        commit: Commit::of(&top),
        built,
        machine,
        seed: options.seed,
        rounds,
        baseline: allocators[0].label.clone(),
        headline: Metric::Time,
        contestants,
        workloads,
        rows: Vec::new(),
        discarded,
        warnings,
        runs,
    };
    summarise(&mut session, &METRICS);
    let changes = match &before {
        Some(before) => store::compare(before, &session, &COMPARED)?,
        None => Vec::new(),
    };
    finish(options, &session, before.is_some(), &changes)
}

/// The library is checked only if it is going to be measured.
fn build(options: &Bench, top: &Path) -> Result<Built> {
    tell("building and verifying");
    let mut built = prepare::build(top, options.build)?;
    let names = options.allocators.join(",") + &options.baseline;
    if options.allocators.is_empty() || names.contains(identity::HAKMEM) {
        built
            .verification
            .extend(prepare::verify(top, &place::library()?)?);
    }
    Ok(built)
}

type Chosen = (Vec<Allocator>, Vec<Contestant>, Vec<Discarded>);

/// The baseline first, then the others that pass their check; who does not is reported.
fn contestants(options: &Bench, suite: &Suite) -> Result<Chosen> {
    let baseline = Allocator::parse(&options.baseline)?;
    let mut discarded = Vec::new();
    let others = if options.allocators.is_empty() {
        everybody(suite, &mut discarded)?
    } else {
        Allocator::parse_list(&options.allocators)?
    };
    let label = baseline.label.clone();
    let others = others.into_iter().filter(|a| a.label != label);
    let witness = Witness::new()?;
    let (mut allocators, mut contestants) = (Vec::new(), Vec::new());
    for allocator in [baseline].into_iter().chain(others) {
        match witness.preflight(&allocator) {
            Ok(version) => {
                let version = manifest_version(&allocator).or(version);
                contestants.push(Contestant::new(&allocator, version));
                allocators.push(allocator);
            }
            Err(error) if allocators.is_empty() => {
                return Err(error).with_context(|| format!("the baseline {}", allocator.label));
            }
            Err(error) => {
                let reason = format!("{error:#}");
                tell(&format!("✗ {} is left out: {reason}", allocator.label));
                discarded.push(Discarded {
                    allocator: allocator.label,
                    workload: None,
                    reason,
                });
            }
        }
    }
    if allocators.len() < 2 {
        bail!("nothing is left to compare with {}", allocators[0].label);
    }
    Ok((allocators, contestants, discarded))
}

/// hakmem and all peers; the full suite builds those that are missing.
fn everybody(suite: &Suite, discarded: &mut Vec<Discarded>) -> Result<Vec<Allocator>> {
    if suite.name == "full" {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        peers::build(
            &peers::Options {
                names: Vec::new(),
                jobs,
                force: false,
            },
            &tell,
        )?;
    }
    let mut list = vec![Allocator::parse(identity::HAKMEM)?];
    let mut missing = Vec::new();
    for entry in peers::manifest()?.peers {
        match Allocator::parse(&entry.name) {
            Ok(allocator) => list.push(allocator),
            Err(error) => {
                missing.push(entry.name.clone());
                let (allocator, reason) = (entry.name, format!("{error:#}"));
                discarded.push(Discarded {
                    allocator,
                    workload: None,
                    reason,
                });
            }
        }
    }
    if list.len() == 1 {
        tell("no peers are built: `hak peers` builds them");
    }
    Ok(list)
}

fn manifest_version(allocator: &Allocator) -> Option<String> {
    let name = allocator.identity?.name;
    let manifest = peers::manifest().ok()?;
    let entry = manifest
        .get(name)
        .filter(|e| e.library == allocator.library)?;
    Some(entry.version.clone())
}

fn refuse_bad_baseline(failed: &[Discarded], baseline: &str) -> Result<()> {
    match failed.iter().find(|d| d.allocator == baseline) {
        Some(bad) => bail!(
            "the baseline {baseline} fails {}: {}",
            bad.workload.as_deref().unwrap_or("everything"),
            bad.reason
        ),
        None => Ok(()),
    }
}

/// One entry per allocator, workload and reason, with the number of runs.
pub fn discarded_runs(runs: &[Run]) -> Vec<Discarded> {
    let mut list: Vec<(Discarded, usize)> = Vec::new();
    for run in runs {
        let Some(reason) = &run.discarded else {
            continue;
        };
        let known = list.iter_mut().find(|(d, _)| {
            d.allocator == run.allocator
                && d.workload.as_ref() == Some(&run.workload)
                && d.reason == *reason
        });
        match known {
            Some((_, count)) => *count += 1,
            None => {
                let (allocator, workload) = (run.allocator.clone(), Some(run.workload.clone()));
                list.push((
                    Discarded {
                        allocator,
                        workload,
                        reason: reason.clone(),
                    },
                    1,
                ));
            }
        }
    }
    let counted = |(mut d, count): (Discarded, usize)| {
        d.reason = format!("{count} runs discarded: {}", d.reason);
        d
    };
    list.into_iter().map(counted).collect()
}

fn finish(options: &Bench, session: &Session, compared: bool, changes: &[Change]) -> Result<i32> {
    println!("{}", table::workloads(session));
    println!("{}", table::overall(session));
    if compared {
        println!(
            "now against the saved session:\n{}",
            table::changes(changes)
        );
    }
    report_caveats(session);
    let folder = match &options.out {
        Some(folder) => folder.clone(),
        None => default_folder("bench")?,
    };
    files::write(&folder, session, changes)?;
    println!("report: {}", folder.join("report.html").display());
    if let Some(name) = &options.save {
        println!("saved as {}", store::save(session, name)?.display());
    }
    let worse = changes
        .iter()
        .any(|change| change.new_library && change.verdict.word == Word::Worse);
    Ok(match (worse, session.discarded.is_empty()) {
        (true, _) => exit::REGRESSION,
        (false, false) => exit::DISCARDED,
        (false, true) => exit::OK,
    })
}

pub fn report_caveats(session: &Session) {
    for warning in &session.warnings {
        println!("⚠ {warning}");
    }
    for item in &session.discarded {
        let place = item
            .workload
            .as_ref()
            .map(|w| format!(" in {w}"))
            .unwrap_or_default();
        println!("✗ {}{place}: {}", item.allocator, item.reason);
    }
}

pub fn load_warning() -> Option<String> {
    let others = load::now();
    let text = format!("before the first run, other programs kept {others:.1} CPUs busy");
    (others > load::BUSY).then(|| {
        tell(&format!("⚠ {text}"));
        text
    })
}

pub fn tell(line: &str) {
    eprintln!("hak: {line}");
}

pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

pub fn command_line() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let name = |word: String| word.rsplit('/').next().map(str::to_owned).unwrap_or(word);
    let mut words: Vec<String> = words.collect();
    if let Some(first) = words.first_mut() {
        *first = name(std::mem::take(first));
    }
    words.join(" ")
}

pub fn default_folder(kind: &str) -> Result<PathBuf> {
    let stamp = now()
        .replace([':', '-'], "")
        .replace('T', "-")
        .replace('Z', "");
    Ok(place::lab()?
        .join("reports")
        .join(format!("{stamp}-{kind}")))
}
