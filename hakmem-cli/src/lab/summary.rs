//! From runs to rows.

use super::{Metric, Row, Session};
use crate::{
    measure::load::BUSY,
    stats::{self, Noise, judge, ratio_of_medians},
};

/// Fills in the rows of a session for the given metrics, and warns of what may have disturbed it.
pub fn summarise(session: &mut Session, metrics: &[Metric]) {
    let mut rows = Vec::new();
    for workload in &session.workloads {
        for metric in metrics {
            let noise = Noise::measure(&session.pairs(&workload.name, &session.baseline, *metric));
            for contestant in &session.contestants {
                rows.extend(row(
                    session,
                    &workload.name,
                    &contestant.label,
                    *metric,
                    noise,
                ));
            }
        }
    }
    session.rows = rows;
    session.warnings.extend(busy(session));
    session.warnings.extend(noisy(session));
}

fn row(
    session: &Session,
    workload: &str,
    allocator: &str,
    metric: Metric,
    noise: Option<Noise>,
) -> Option<Row> {
    let counted = session.runs.iter().filter(|run| {
        // The baseline's second runs are for the noise: the ratio is that of the medians shown.
        run.workload == workload
            && run.allocator == allocator
            && run.discarded.is_none()
            && !run.again
    });
    let values: Vec<f64> = counted.filter_map(|run| metric.of(run)).collect();
    let is_baseline = allocator == session.baseline;
    let ratio = (!is_baseline)
        .then(|| ratio_of_medians(&session.pairs(workload, allocator, metric)))
        .flatten();
    Some(Row {
        workload: workload.to_owned(),
        allocator: allocator.to_owned(),
        metric,
        runs: values.len(),
        median: stats::median(&values)?,
        ratio,
        noise: noise.map(|n| n.0),
        verdict: ratio.zip(noise).map(|(ratio, noise)| judge(&ratio, noise)),
    })
}

fn busy(session: &Session) -> Option<String> {
    let disturbed = session.runs.iter().filter(|run| run.others > BUSY).count();
    (disturbed > 0).then(|| {
        format!(
            "other programs kept the machine busy during {disturbed} of {} runs",
            session.runs.len()
        )
    })
}

/// Where the machine is too unsteady for the changes that are worth claiming.
fn noisy(session: &Session) -> Option<String> {
    let is_noisy = |workload: &str| {
        let row = session.row(workload, &session.baseline, session.headline)?;
        row.noise.filter(|noise| *noise > stats::verdict::CLAIM)
    };
    let list: Vec<String> = session
        .workloads
        .iter()
        .filter_map(|w| Some(format!("{} ({:.0} %)", w.name, is_noisy(&w.name)? * 100.0)))
        .collect();
    (!list.is_empty()).then(|| {
        format!(
            "noise above 5 %: smaller differences cannot be seen here; more runs or a quieter \
             machine help: {}",
            list.join(", ")
        )
    })
}

/// Geometric mean, smallest and largest of a contestant's ratios over all workloads.
pub fn overall(session: &Session, allocator: &str, metric: Metric) -> Option<(f64, f64, f64)> {
    let ratios: Vec<f64> = session
        .rows
        .iter()
        .filter(|row| row.allocator == allocator && row.metric == metric)
        .filter_map(|row| Some(row.ratio?.ratio))
        .collect();
    let mean = ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64;
    let smallest = ratios.iter().copied().reduce(f64::min)?;
    let largest = ratios.iter().copied().reduce(f64::max)?;
    Some((mean.exp(), smallest, largest))
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
