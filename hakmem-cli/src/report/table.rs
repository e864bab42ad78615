//! The tables on the terminal.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, TableComponent, presets,
};

use crate::{
    lab::{Metric, Row, Session, store::Change, summary},
    stats::{Interval, Verdict, Word},
};

/// `0.83 [0.80 … 0.86]`.
pub fn ratio(interval: &Interval) -> String {
    format!(
        "{:.3} [{:.3} … {:.3}]",
        interval.ratio, interval.low, interval.high
    )
}

/// Millions or thousands of operations per second.
pub fn per_second(ns_per_op: f64) -> String {
    match 1e9 / ns_per_op {
        n if n >= 1e6 => format!("{:.1} M/s", n / 1e6),
        n if n >= 1e3 => format!("{:.1} k/s", n / 1e3),
        n => format!("{n:.0} /s"),
    }
}

fn colour(word: Word) -> Option<Color> {
    match word {
        Word::Better | Word::SlightlyBetter => Some(Color::Green),
        Word::Worse | Word::SlightlyWorse => Some(Color::Red),
        Word::NoDifference => None,
    }
}

fn verdict_cell(verdict: Option<&Verdict>) -> Cell {
    let Some(verdict) = verdict else {
        return Cell::new("");
    };
    let cell = Cell::new(verdict.word.to_string());
    match colour(verdict.word) {
        Some(colour) => cell.fg(colour),
        None => cell,
    }
}

fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_style(TableComponent::HeaderLines, '─');
    table.set_style(TableComponent::MiddleHeaderIntersections, '─');
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(
        header
            .iter()
            .map(|h| Cell::new(h).add_attribute(Attribute::Bold)),
    );
    table
}

fn number(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Every workload with every contestant, by the session's headline figure.
pub fn workloads(session: &Session) -> String {
    let with_time = session.headline == Metric::Time;
    let headline = session.headline.to_string();
    let mut header = vec![
        "workload",
        "allocator",
        headline.as_str(),
        "ratio [95 %]",
        "verdict",
    ];
    if with_time {
        header.push("ops");
    }
    header.extend(["peak RSS", "faults", "switches", "runs"]);
    let mut table = new_table(&header);
    for workload in &session.workloads {
        for (i, contestant) in session.contestants.iter().enumerate() {
            let row = |metric| session.row(&workload.name, &contestant.label, metric);
            let Some(main) = row(session.headline) else {
                continue;
            };
            let shown = |metric| {
                row(metric)
                    .map(|r| metric.show(r.median))
                    .unwrap_or_default()
            };
            let name = if i == 0 { workload.name.as_str() } else { "" };
            let mut cells = vec![
                Cell::new(name),
                Cell::new(&contestant.label),
                number(session.headline.show(main.median)),
                Cell::new(ratio_or_noise(main)),
                verdict_cell(main.verdict.as_ref()),
            ];
            if with_time {
                cells.push(number(per_second(main.median)));
            }
            cells.extend([Metric::Rss, Metric::Faults, Metric::Switches].map(|m| number(shown(m))));
            cells.push(number(main.runs.to_string()));
            table.add_row(cells);
        }
    }
    table.to_string()
}

/// The baseline has no ratio; it has the noise.
fn ratio_or_noise(row: &Row) -> String {
    match (&row.ratio, row.noise) {
        (Some(interval), _) => ratio(interval),
        (None, Some(noise)) => format!("1 (noise {:.1} %)", noise * 100.0),
        (None, None) => String::new(),
    }
}

/// One line per contestant: geometric means over all workloads.
pub fn overall(session: &Session) -> String {
    let headline = format!("{} / {}", session.headline, session.baseline);
    let mut table = new_table(&[
        "allocator",
        "version",
        &headline,
        "best",
        "worst",
        "better",
        "worse",
        "peak RSS",
        "faults",
    ]);
    for contestant in session
        .contestants
        .iter()
        .filter(|c| c.label != session.baseline)
    {
        let label = &contestant.label;
        let mean = |metric| summary::overall(session, label, metric);
        let shown = |value: Option<f64>| value.map(|v| format!("{v:.3}")).unwrap_or_default();
        let headline = mean(session.headline);
        let count = |wanted: [Word; 2]| {
            let rows = session
                .rows
                .iter()
                .filter(|row| row.allocator == *label && row.metric == session.headline);
            let words = rows.filter_map(|row| Some(row.verdict.as_ref()?.word));
            words
                .filter(|word| wanted.contains(word))
                .count()
                .to_string()
        };
        table.add_row(vec![
            Cell::new(label),
            Cell::new(short(&contestant.version)),
            number(shown(headline.map(|h| h.0))),
            number(shown(headline.map(|h| h.1))),
            number(shown(headline.map(|h| h.2))),
            number(count([Word::Better, Word::SlightlyBetter])),
            number(count([Word::Worse, Word::SlightlyWorse])),
            number(shown(mean(Metric::Rss).map(|r| r.0))),
            number(shown(mean(Metric::Faults).map(|f| f.0))),
        ]);
    }
    table.to_string()
}

/// A version of git's kind, "5.3.1-0-g8103…", without its hash.
pub fn short(version: &str) -> &str {
    version.split("-0-g").next().unwrap_or(version)
}

/// What changed against a saved session: only what has a verdict, worst first.
pub fn changes(list: &[Change]) -> String {
    let mut different: Vec<&Change> = list
        .iter()
        .filter(|change| change.verdict.word.is_difference())
        .collect();
    if different.is_empty() {
        return format!("no difference in {} figures", list.len());
    }
    different.sort_by(|a, b| b.ratio.ratio.total_cmp(&a.ratio.ratio));
    let mut table = new_table(&[
        "workload",
        "allocator",
        "figure",
        "now / then [95 %]",
        "verdict",
    ]);
    for change in &different {
        let note = if change.new_library {
            ""
        } else {
            " (same library)"
        };
        table.add_row(vec![
            Cell::new(&change.workload),
            Cell::new(format!("{}{note}", change.allocator)),
            Cell::new(change.metric.to_string()),
            Cell::new(ratio(&change.ratio)),
            verdict_cell(Some(&change.verdict)),
        ]);
    }
    format!(
        "{table}\nno difference in the other {} figures",
        list.len() - different.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{fixture, summary::summarise};

    #[test]
    fn the_table_says_what_was_found() {
        let mut session = fixture::session(0.5);
        let metrics = [Metric::Time, Metric::Rss, Metric::Faults, Metric::Switches];
        summarise(&mut session, &metrics);
        let text = workloads(&session);
        let line = text.lines().find(|l| l.contains("fast")).unwrap();
        for part in ["5.0 ns", "0.49", "better", "2048 KiB", "100", "M/s", "10"] {
            assert!(line.contains(part), "{part} in {line}");
        }
        let line = text.lines().find(|l| l.contains("libc")).unwrap();
        assert!(line.contains("1 (noise ") && line.contains(" 10"), "{line}");
        let text = overall(&session);
        assert!(
            text.contains("time/op / libc") && text.contains("fast"),
            "{text}"
        );
    }

    #[test]
    fn rates_and_versions() {
        assert_eq!(per_second(10.0), "100.0 M/s");
        assert_eq!(per_second(300_000.0), "3.3 k/s");
        assert_eq!(per_second(3e9), "0 /s");
        assert_eq!(short("5.3.1-0-g81034ce"), "5.3.1");
        assert_eq!(short("2.10"), "2.10");
    }

    #[test]
    fn no_change_is_told_in_one_line() {
        assert_eq!(changes(&[]), "no difference in 0 figures");
    }
}
