//! Sessions kept under a name, and what changed since.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::{Metric, Session, data::SCHEMA};
use crate::{
    names, place,
    stats::{Interval, Noise, Verdict, judge, ratio_of_ratios},
};

/// One figure, now over then, each against the baseline of its own session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub workload: String,
    pub allocator: String,
    pub metric: Metric,
    pub ratio: Interval,
    pub verdict: Verdict,
    /// Whether the library is another file than it was.
    pub new_library: bool,
}

fn folder() -> Result<PathBuf> {
    Ok(place::lab()?.join("saved"))
}

fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        bail!("'{name}' is no name for a session: letters, digits, '-', '_' and '.' only");
    }
    Ok(())
}

/// Keeps a session; returns the file.
pub fn save(session: &Session, name: &str) -> Result<PathBuf> {
    check_name(name)?;
    let folder = folder()?;
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{name}.json"));
    fs::write(&path, serde_json::to_vec(session)?)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

pub fn load(name: &str) -> Result<Session> {
    check_name(name)?;
    let folder = folder()?;
    let path = folder.join(format!("{name}.json"));
    if !path.is_file() {
        let entries = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        let stems = entries.filter_map(|e| Some(e.path().file_stem()?.to_str()?.to_owned()));
        let saved: Vec<String> = stems.collect();
        let valid: Vec<&str> = saved.iter().map(String::as_str).collect();
        return Err(names::unknown("saved session", name, &valid));
    }
    let text = fs::read_to_string(&path)?;
    let session: Session = serde_json::from_str(&text)
        .with_context(|| format!("{} is damaged, or of another version", path.display()))?;
    if session.schema != SCHEMA {
        bail!(
            "{} has layout {}, this hak reads {SCHEMA}",
            path.display(),
            session.schema
        );
    }
    Ok(session)
}

/// What changed in the contestants and workloads that both sessions have.
pub fn compare(before: &Session, after: &Session, metrics: &[Metric]) -> Result<Vec<Change>> {
    if before.baseline != after.baseline {
        bail!(
            "the saved session has {} as its baseline, this one has {}",
            before.baseline,
            after.baseline
        );
    }
    let mut changes = Vec::new();
    for row in after
        .rows
        .iter()
        .filter(|row| metrics.contains(&row.metric))
    {
        let Some(old) = before.row(&row.workload, &row.allocator, row.metric) else {
            continue;
        };
        let (Some(noise), Some(old_noise)) = (row.noise, old.noise) else {
            continue;
        };
        if row.allocator == after.baseline || !same_command(before, after, &row.workload) {
            continue;
        }
        let pairs = |s: &Session| s.pairs(&row.workload, &row.allocator, row.metric);
        let Some(ratio) = ratio_of_ratios(&pairs(before), &pairs(after)) else {
            continue;
        };
        // Both sessions were noisy, each in its own way.
        let noise = Noise((1.0 + noise) * (1.0 + old_noise) - 1.0);
        let sum = |s: &Session| {
            s.contestants
                .iter()
                .find(|c| c.label == row.allocator)?
                .sha256
                .clone()
        };
        changes.push(Change {
            workload: row.workload.clone(),
            allocator: row.allocator.clone(),
            metric: row.metric,
            ratio,
            verdict: judge(&ratio, noise),
            new_library: sum(before) != sum(after),
        });
    }
    Ok(changes)
}

/// A workload whose parameters changed is another workload. The path of the program may differ.
fn same_command(before: &Session, after: &Session, workload: &str) -> bool {
    let args = |s: &Session| {
        let found = s.workloads.iter().find(|w| w.name == workload)?;
        found.command.get(1..).map(<[String]>::to_vec)
    };
    args(before) == args(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        lab::{fixture, summary::summarise},
        stats::Word,
    };

    fn measured(factor: f64, sum: &str) -> Session {
        let mut session = fixture::session(factor);
        session.contestants[1].sha256 = Some(sum.to_owned());
        summarise(&mut session, &[Metric::Time]);
        session
    }

    #[test]
    fn a_regression_is_found_whatever_the_machine_does() {
        let before = measured(0.5, "old");
        let mut after = measured(0.6, "new");
        // The whole machine is three times slower now.
        for run in &mut after.runs {
            run.ns_per_op = run.ns_per_op.map(|ns| ns * 3.0);
        }
        let changes = compare(&before, &after, &[Metric::Time]).unwrap();
        assert_eq!(changes.len(), 1);
        assert_eq!(
            (changes[0].verdict.word, changes[0].new_library),
            (Word::Worse, true)
        );
        assert!((changes[0].ratio.ratio - 1.2).abs() < 0.02);
    }

    #[test]
    fn the_same_figures_are_no_change() {
        let before = measured(0.5, "old");
        let changes = compare(&before, &before, &[Metric::Time]).unwrap();
        assert_eq!(
            (changes[0].verdict.word, changes[0].new_library),
            (Word::NoDifference, false)
        );
    }

    #[test]
    fn only_what_is_the_same_is_compared() {
        let before = measured(0.5, "old");
        let mut after = measured(0.5, "new");
        after.workloads[0].command.push("--more".to_owned());
        assert_eq!(compare(&before, &after, &[Metric::Time]).unwrap(), []);
        after.baseline = "fast".to_owned();
        let error = compare(&before, &after, &[Metric::Time])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("has libc as its baseline, this one has fast"),
            "{error}"
        );
    }

    #[test]
    fn names_are_plain() {
        assert!(check_name("main-2026.1_a").is_ok());
        for bad in ["", "../x", "a/b", ".hidden", "a b"] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
