//! Runs everything, interleaved in random order, and lets each run prove itself.

use std::{collections::BTreeMap, ffi::OsString, time::Duration};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;

use super::{Run, Workload, metric::Choice};
use crate::{
    allocator::Allocator,
    measure::{Launch, load::Meter},
    proof::{Refusal, Session as Witness, judge, session::Detail},
};

/// Who runs what, how often.
pub struct Plan<'a> {
    /// The first one is the baseline, which runs twice per round.
    pub allocators: &'a [Allocator],
    pub workloads: &'a [Workload],
    pub rounds: usize,
    pub seed: u64,
    pub timeout: Duration,
    pub choice: &'a Choice,
    /// A program that leaves by `_exit` shows its bindings at the start only; this accepts it.
    pub accept_silent_end: bool,
    /// Pairs (workload, allocator) that are left out.
    pub excluded: Vec<(String, String)>,
}

/// One line of a benchmark program's `--json`.
#[derive(Debug, Deserialize)]
struct ProgramReport {
    ns_per_op: f64,
    checksum: String,
}

impl ProgramReport {
    fn parse(stdout: &[u8]) -> Option<ProgramReport> {
        let text = String::from_utf8_lossy(stdout);
        text.lines()
            .rev()
            .find_map(|line| serde_json::from_str(line).ok())
    }
}

impl Plan<'_> {
    /// All rounds. `tell` gets a line per round when there is no terminal for a progress bar.
    pub fn execute(&self, tell: &dyn Fn(&str)) -> Result<Vec<Run>> {
        let witness = Witness::new()?;
        let mut rng = fastrand::Rng::with_seed(self.seed);
        let mut runs = Vec::new();
        let bar = self.progress_bar();
        for round in 0..self.rounds {
            for (workload, allocator, again) in self.order(&mut rng) {
                bar.set_message(format!("{} on {}", workload.name, allocator.label));
                let mut run = self.measure(&witness, workload, allocator)?;
                run.round = round;
                run.again = again;
                run.position = runs.len();
                runs.push(run);
                bar.inc(1);
            }
            if bar.is_hidden() {
                let left = bar.elapsed().as_secs_f64() / (round + 1) as f64;
                let left = Duration::from_secs_f64(left * (self.rounds - round - 1) as f64);
                let left = humantime::format_duration(Duration::from_secs(left.as_secs()));
                tell(&format!(
                    "round {} of {} done, {left} left",
                    round + 1,
                    self.rounds
                ));
            }
        }
        bar.finish_and_clear();
        discard_wrong_work(&mut runs, self.allocators.first().map_or("", |a| &a.label));
        Ok(runs)
    }

    /// One round: workloads in random order, and within each its contestants in random order, so
    /// that what is compared runs close together.
    fn order(&self, rng: &mut fastrand::Rng) -> Vec<(&Workload, &Allocator, bool)> {
        let mut workloads: Vec<&Workload> = self.workloads.iter().collect();
        rng.shuffle(&mut workloads);
        let mut order = Vec::new();
        for workload in workloads {
            let mut contestants: Vec<_> = self.allocators.iter().map(|a| (a, false)).collect();
            contestants.extend(self.allocators.first().map(|baseline| (baseline, true)));
            contestants.retain(|(a, _)| !self.is_excluded(&workload.name, &a.label));
            rng.shuffle(&mut contestants);
            order.extend(
                contestants
                    .into_iter()
                    .map(|(a, again)| (workload, a, again)),
            );
        }
        order
    }

    fn is_excluded(&self, workload: &str, allocator: &str) -> bool {
        self.excluded
            .iter()
            .any(|(w, a)| w == workload && a == allocator)
    }

    /// One run outside the rounds, for warming up and for checking.
    pub fn measure(
        &self,
        witness: &Witness,
        workload: &Workload,
        allocator: &Allocator,
    ) -> Result<Run> {
        let (program, args) = workload
            .command
            .split_first()
            .context("a workload without a program")?;
        let detail = if self.accept_silent_end {
            Detail::StartAndEnd
        } else {
            Detail::End
        };
        let launch = Launch {
            program: program.into(),
            args: args.iter().map(OsString::from).collect(),
            env: witness.environment(allocator, detail),
            directory: None,
            timeout: Some(self.timeout),
        };
        witness.clear()?;
        let meter = Meter::start();
        let outcome = launch.run()?;
        let own = Duration::from_micros(outcome.usage.user_us + outcome.usage.system_us);
        let others = meter.others(own);
        let probe = witness.probe_records()?;
        let hakmem = witness.hakmem_records()?;
        let mut refusals = judge(
            allocator,
            probe.iter().rfind(|r| r.pid == outcome.pid),
            hakmem.iter().rfind(|r| r.pid == outcome.pid),
        );
        if self.accept_silent_end {
            refusals.retain(|refusal| *refusal != Refusal::NoEnd);
        }
        let text = || {
            String::from_utf8_lossy(&[&outcome.stdout[..], &outcome.stderr].concat()).into_owned()
        };
        let number = self
            .choice
            .pattern
            .as_ref()
            .and_then(|_| self.choice.number(&text()));
        let discarded = if !outcome.exit.success() {
            let said = String::from_utf8_lossy(&outcome.stderr);
            let last = said
                .lines()
                .rfind(|line| !line.trim().is_empty())
                .unwrap_or_default();
            Some(format!("{} {last}", outcome.exit).trim().to_owned())
        } else if let Some(refusal) = refusals.first() {
            Some(refusal.to_string())
        } else if self.choice.pattern.is_some() && number.is_none() {
            Some("the pattern finds no number in the output".to_owned())
        } else {
            None
        };
        let report = ProgramReport::parse(&outcome.stdout);
        Ok(Run {
            workload: workload.name.clone(),
            allocator: allocator.label.clone(),
            round: 0,
            position: 0,
            again: false,
            exit: outcome.exit,
            usage: outcome.usage,
            ns_per_op: report.as_ref().map(|r| r.ns_per_op),
            number,
            checksum: report.map(|r| r.checksum),
            others,
            discarded,
        })
    }

    fn progress_bar(&self) -> ProgressBar {
        let contestants = self.workloads.len() * (self.allocators.len() + 1);
        let bar = ProgressBar::new(((contestants - self.excluded.len()) * self.rounds) as u64);
        let template = "{bar:30} {pos}/{len} runs, {eta} left  {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar
    }
}

/// A run that computed something else than the baseline did other work, and does not count.
fn discard_wrong_work(runs: &mut [Run], baseline: &str) {
    let mut expected: BTreeMap<String, String> = BTreeMap::new();
    for run in runs
        .iter()
        .filter(|run| run.allocator == baseline && run.discarded.is_none())
    {
        if let Some(sum) = &run.checksum {
            expected
                .entry(run.workload.clone())
                .or_insert_with(|| sum.clone());
        }
    }
    for run in runs.iter_mut().filter(|run| run.discarded.is_none()) {
        if let (Some(sum), Some(wanted)) = (&run.checksum, expected.get(&run.workload))
            && sum != wanted
        {
            run.discarded = Some(format!("computes {sum} instead of {wanted}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::fixture;

    #[test]
    fn reads_the_last_json_line() {
        let text = b"noise\n{\"bench\":\"x\",\"ns_per_op\":12.5,\"checksum\":\"00ff\"}\n";
        let report = ProgramReport::parse(text).unwrap();
        assert_eq!((report.ns_per_op, report.checksum.as_str()), (12.5, "00ff"));
        assert!(ProgramReport::parse(b"{}\nno json").is_none());
    }

    #[test]
    fn wrong_work_does_not_count() {
        let mut runs = fixture::session(0.5).runs;
        runs[2].checksum = Some("c1".to_owned());
        discard_wrong_work(&mut runs, "libc");
        let discarded: Vec<_> = runs.iter().filter_map(|r| r.discarded.as_deref()).collect();
        assert_eq!(discarded, ["computes c1 instead of c0"]);
    }
}
