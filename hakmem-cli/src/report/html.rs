//! One page that needs nothing but itself.

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    plot,
    table::{per_second, ratio, short},
};
use crate::{
    lab::{Metric, Session, Workload, store::Change, summary},
    stats::{Verdict, Word},
};

const STYLE: &str = include_str!("style.css");

/// The report as HTML.
pub fn page(session: &Session, changes: &[Change]) -> Result<String> {
    let several = session.workloads.len() > 1;
    let body = html! {
        header {
            h1 { (session.title) }
            p.sub { (session.created) " · commit " code { (short_commit(session)) } " · " (session.machine.cpu)
                ", " (session.machine.cpus) " CPUs · Linux " (session.machine.kernel) }
        }
        @if !session.warnings.is_empty() || !session.discarded.is_empty() { (caveats(session)) }
        @if several {
            section {
                h2 { "All workloads" }
                div.split {
                    div.card { (PreEscaped(plot::time_and_memory(session)?)) }
                    div.card { (overall(session)) }
                }
            }
        }
        @if !changes.is_empty() { (changed(changes)) }
        section {
            h2 { "Workload by workload" }
            p.legend { "Dots are runs, the disc is the ratio of the medians, the bar its 95 % interval, "
                "the blue band the machine's own noise. "
                span.better { "green" } " and " span.worse { "red" }
                " only where the interval excludes 1 and the change is outside the noise." }
            div.grid {
                @for workload in &session.workloads { (one(session, workload)?) }
            }
        }
        (conditions(session))
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (session.title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    Ok(page.into_string())
}

fn short_commit(session: &Session) -> String {
    let id: String = session.commit.id.chars().take(12).collect();
    if session.commit.dirty {
        format!("{id} + changes")
    } else {
        id
    }
}

fn word_class(verdict: Option<&Verdict>) -> &'static str {
    match verdict.map(|v| v.word) {
        Some(Word::Better | Word::SlightlyBetter) => "better",
        Some(Word::Worse | Word::SlightlyWorse) => "worse",
        _ => "same",
    }
}

fn word(verdict: Option<&Verdict>) -> Markup {
    html! {
        @if let Some(verdict) = verdict {
            span class=(word_class(Some(verdict))) title=(verdict.reason) { (verdict.word) }
        }
    }
}

fn caveats(session: &Session) -> Markup {
    html! {
        section.caveats {
            @for warning in &session.warnings { p { "⚠ " (warning) } }
            @for item in &session.discarded {
                p { "✗ " b { (item.allocator) }
                    @if let Some(workload) = &item.workload { " in " (workload) }
                    ": " (item.reason) }
            }
        }
    }
}

fn overall(session: &Session) -> Markup {
    let others = session
        .contestants
        .iter()
        .filter(|c| c.label != session.baseline);
    let shown = |value: Option<f64>| value.map(|v| format!("{v:.3}")).unwrap_or_default();
    html! {
        p.legend { "Geometric means over " (session.workloads.len()) " workloads, "
            b { (session.baseline) } " = 1; less is better." }
        table {
            thead { tr { th { "allocator" } th.n { (session.headline) } th.n { "best" } th.n { "worst" }
                th.n { "peak RSS" } th.n { "faults" } } }
            tbody { @for contestant in others {
                @let time = summary::overall(session, &contestant.label, session.headline);
                @let rss = summary::overall(session, &contestant.label, Metric::Rss);
                @let faults = summary::overall(session, &contestant.label, Metric::Faults);
                tr {
                    td { (contestant.label) " " small { (short(&contestant.version)) } }
                    td.n { b { (shown(time.map(|t| t.0))) } }
                    td.n { (shown(time.map(|t| t.1))) }
                    td.n { (shown(time.map(|t| t.2))) }
                    td.n { (shown(rss.map(|t| t.0))) }
                    td.n { (shown(faults.map(|t| t.0))) }
                }
            } }
        }
    }
}

fn one(session: &Session, workload: &Workload) -> Result<Markup> {
    let program = workload
        .command
        .first()
        .map_or("", |p| p.rsplit('/').next().unwrap_or(p));
    let with_rate = session.headline == Metric::Time;
    Ok(html! {
        div.card {
            h3 { (workload.name) }
            p.command { code { (program) " " (workload.command[1..].join(" ")) } }
            (PreEscaped(plot::workload(session, &workload.name)?))
            table {
                thead { tr { th { "allocator" } th.n { (session.headline) } th { "ratio [95 %]" } th {}
                    @if with_rate { th.n { "ops" } }
                    th.n { "peak RSS" } th.n { "faults" } th.n { "switches" } } }
                tbody { @for contestant in &session.contestants {
                    @let row = |metric| session.row(&workload.name, &contestant.label, metric);
                    @let cell = |metric: Metric| row(metric).map(|r| metric.show(r.median)).unwrap_or_default();
                    @if let Some(main) = row(session.headline) {
                        tr {
                            td { (contestant.label) }
                            td.n { (session.headline.show(main.median)) }
                            td { @match (&main.ratio, main.noise) {
                                (Some(interval), _) => (ratio(interval)),
                                (None, Some(noise)) => { "noise " (format!("{:.1}", noise * 100.0)) " %" }
                                (None, None) => "",
                            } }
                            td { (word(main.verdict.as_ref())) }
                            @if with_rate { td.n { (per_second(main.median)) } }
                            td.n { (cell(Metric::Rss)) }
                            td.n { (cell(Metric::Faults)) }
                            td.n { (cell(Metric::Switches)) }
                        }
                    }
                } }
            }
        }
    })
}

fn changed(changes: &[Change]) -> Markup {
    let mut different: Vec<&Change> = changes
        .iter()
        .filter(|c| c.verdict.word.is_difference())
        .collect();
    different.sort_by(|a, b| b.ratio.ratio.total_cmp(&a.ratio.ratio));
    html! {
        section {
            h2 { "Against the saved session" }
            p.legend { (different.len()) " of " (changes.len()) " figures differ; each is measured against the "
                "baseline of its own session." }
            @if !different.is_empty() { table {
                thead { tr { th { "workload" } th { "allocator" } th { "figure" }
                    th { "now / then [95 %]" } th {} } }
                tbody { @for change in different { tr {
                    td { (change.workload) } td { (change.allocator)
                        @if !change.new_library { " " small { "same library" } } }
                    td { (change.metric) } td { (ratio(&change.ratio)) }
                    td { (word(Some(&change.verdict))) }
                } } }
            } }
        }
    }
}

fn conditions(session: &Session) -> Markup {
    let machine = &session.machine;
    let facts = [
        ("Command", session.command.clone()),
        ("Commit", short_commit(session)),
        (
            "Build",
            [
                session.built.how.as_str(),
                &session.built.command,
                &session.built.message,
            ]
            .join(" · "),
        ),
        (
            "Rounds",
            format!("{}, random order, seed {}", session.rounds, session.seed),
        ),
        ("CPU", format!("{} × {}", machine.cpus, machine.cpu)),
        ("Memory", format!("{} MiB", machine.memory_mib)),
        ("Kernel", machine.kernel.clone()),
        ("libc", machine.libc.clone()),
        ("Huge pages", machine.huge_pages.clone()),
        ("Frequency governor", machine.governor.clone()),
        ("Load before", machine.load.clone()),
    ];
    html! {
        section {
            h2 { "Conditions" }
            table.facts { tbody {
                @for (name, value) in facts { tr { th { (name) } td { (value) } } }
                @for (check, said) in &session.built.verification { tr { th { (check) } td { (said) } } }
            } }
            h3 { "Allocators" }
            table { tbody { @for contestant in &session.contestants { tr {
                td { b { (contestant.label) } }
                td { (contestant.version) }
                td { code { (contestant.library.as_ref().map(|l| l.display().to_string()).unwrap_or_default()) } }
                td { code { (contestant.sha256.as_deref().map(|s| &s[..16]).unwrap_or("")) } }
            } } } }
            p.legend { "Every run counted here was proven to be served by the allocator it is counted for: "
                "all allocation functions bound to its library, libc's own heap empty, the same result computed. "
                "docs/BENCHMARKS.md tells how." }
        }
    }
}
