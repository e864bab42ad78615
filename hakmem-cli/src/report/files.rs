//! report.json, runs.csv, summary.csv and report.html in one folder.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use serde::Serialize;

use super::html;
use crate::lab::{Session, store::Change};

/// Writes all files of a session.
pub fn write(folder: &Path, session: &Session, changes: &[Change]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    fs::write(
        folder.join("report.json"),
        serde_json::to_string_pretty(session)? + "\n",
    )?;
    fs::write(folder.join("report.html"), html::page(session, changes)?)?;
    rows(
        &folder.join("runs.csv"),
        session.runs.iter().map(|run| RunLine {
            workload: &run.workload,
            allocator: &run.allocator,
            round: run.round,
            position: run.position,
            again: run.again,
            exit: run.exit.shell_code(),
            wall_ns: run.usage.wall_ns,
            user_us: run.usage.user_us,
            system_us: run.usage.system_us,
            max_rss_kib: run.usage.max_rss_kib,
            minor_faults: run.usage.minor_faults,
            major_faults: run.usage.major_faults,
            voluntary_switches: run.usage.voluntary_switches,
            involuntary_switches: run.usage.involuntary_switches,
            ns_per_op: run.ns_per_op,
            number: run.number,
            others: run.others,
            discarded: run.discarded.as_deref().unwrap_or(""),
            commit: &session.commit.id,
        }),
    )?;
    rows(
        &folder.join("summary.csv"),
        session.rows.iter().map(|row| SummaryLine {
            workload: &row.workload,
            allocator: &row.allocator,
            figure: row.metric.to_string(),
            runs: row.runs,
            median: row.median,
            ratio: row.ratio.map(|r| r.ratio),
            low: row.ratio.map(|r| r.low),
            high: row.ratio.map(|r| r.high),
            noise: row.noise,
            verdict: row
                .verdict
                .as_ref()
                .map(|v| v.word.to_string())
                .unwrap_or_default(),
            commit: &session.commit.id,
        }),
    )
}

#[derive(Serialize)]
struct RunLine<'a> {
    workload: &'a str,
    allocator: &'a str,
    round: usize,
    position: usize,
    again: bool,
    exit: i32,
    wall_ns: u64,
    user_us: u64,
    system_us: u64,
    max_rss_kib: u64,
    minor_faults: u64,
    major_faults: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    ns_per_op: Option<f64>,
    number: Option<f64>,
    others: f64,
    discarded: &'a str,
    commit: &'a str,
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    workload: &'a str,
    allocator: &'a str,
    figure: String,
    runs: usize,
    median: f64,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    noise: Option<f64>,
    verdict: String,
    commit: &'a str,
}

fn rows<T: Serialize>(path: &Path, lines: impl Iterator<Item = T>) -> Result<()> {
    let mut writer =
        csv::Writer::from_path(path).with_context(|| format!("cannot write {}", path.display()))?;
    for line in lines {
        writer.serialize(line)?;
    }
    Ok(writer.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{Metric, fixture, summary::summarise};

    #[test]
    fn all_files_hold_the_session() {
        let mut session = fixture::session(0.5);
        summarise(&mut session, &[Metric::Time, Metric::Rss]);
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &session, &[]).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let back: Session = serde_json::from_str(&read("report.json")).unwrap();
        assert_eq!(back, session);
        let mut lines = csv::Reader::from_path(folder.path().join("runs.csv")).unwrap();
        assert_eq!(lines.records().count(), session.runs.len());
        let summary = read("summary.csv");
        assert!(summary.starts_with("workload,allocator,figure,runs,median,ratio,low,high,noise"));
        assert!(summary.contains("w,fast,time/op,10,") && summary.contains(",better,0"));
        let page = read("report.html");
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"));
        for remote in ["http://", "https://", "src=", "@import"] {
            let inside = page.replace("http://www.w3.org/2000/svg", "");
            assert!(
                !inside.contains(remote),
                "the page needs nothing from outside: {remote}"
            );
        }
    }
}
