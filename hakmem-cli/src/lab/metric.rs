//! The figures that runs are compared by. Less is better in all of them; a number of the
//! program's own for which more is better is turned over.

use std::fmt;

use anyhow::{Result, anyhow};
use regex::Regex;
use serde::{Deserialize, Serialize};

use super::Run;
use crate::names;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Time per operation, by the program's own clock.
    Time,
    Wall,
    User,
    System,
    /// User and system time together.
    Cpu,
    /// Largest resident size of one process.
    Rss,
    /// Minor and major page faults.
    Faults,
    /// Voluntary and involuntary context switches.
    Switches,
    /// Taken from the program's output.
    Number,
}

const BY_NAME: [(&str, Metric); 7] = [
    ("wall", Metric::Wall),
    ("user", Metric::User),
    ("system", Metric::System),
    ("cpu", Metric::Cpu),
    ("rss", Metric::Rss),
    ("faults", Metric::Faults),
    ("switches", Metric::Switches),
];

impl Metric {
    pub fn of(self, run: &Run) -> Option<f64> {
        let usage = &run.usage;
        match self {
            Metric::Time => run.ns_per_op,
            Metric::Wall => Some(usage.wall_ns as f64 / 1e9),
            Metric::User => Some(usage.user_us as f64 / 1e6),
            Metric::System => Some(usage.system_us as f64 / 1e6),
            Metric::Cpu => Some((usage.user_us + usage.system_us) as f64 / 1e6),
            Metric::Rss => Some(usage.max_rss_kib as f64),
            Metric::Faults => Some((usage.minor_faults + usage.major_faults) as f64),
            Metric::Switches => {
                Some((usage.voluntary_switches + usage.involuntary_switches) as f64)
            }
            Metric::Number => run.number,
        }
    }

    /// A value with its unit, for people.
    pub fn show(self, value: f64) -> String {
        match self {
            Metric::Time if value >= 100_000.0 => format!("{:.1} µs", value / 1000.0),
            Metric::Time => format!("{value:.1} ns"),
            Metric::Wall | Metric::User | Metric::System | Metric::Cpu => seconds(value),
            Metric::Rss if value >= 10_240.0 => format!("{:.1} MiB", value / 1024.0),
            Metric::Rss => format!("{value:.0} KiB"),
            Metric::Faults | Metric::Switches => format!("{value:.0}"),
            Metric::Number => format!("{value:.6}")
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned(),
        }
    }
}

fn seconds(value: f64) -> String {
    if value < 1.0 {
        format!("{:.1} ms", value * 1e3)
    } else {
        format!("{value:.3} s")
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Metric::Time => "time/op",
            Metric::Wall => "wall time",
            Metric::User => "user time",
            Metric::System => "system time",
            Metric::Cpu => "CPU time",
            Metric::Rss => "peak RSS",
            Metric::Faults => "page faults",
            Metric::Switches => "context switches",
            Metric::Number => "program's number",
        })
    }
}

/// What `--metric` may say.
#[derive(Clone, Debug)]
pub struct Choice {
    pub metric: Metric,
    /// For [`Metric::Number`].
    pub pattern: Option<Regex>,
}

impl Choice {
    pub fn parse(text: &str) -> Result<Choice> {
        if let Some(pattern) = text.strip_prefix("regex:") {
            let regex = Regex::new(pattern).map_err(|e| anyhow!("--metric regex: {e}"))?;
            if regex.captures_len() < 2 {
                return Err(anyhow!(
                    "--metric regex: '{pattern}' has no (group) for the number"
                ));
            }
            return Ok(Choice {
                metric: Metric::Number,
                pattern: Some(regex),
            });
        }
        let found = BY_NAME.iter().find(|(name, _)| *name == text);
        let valid: Vec<&str> = BY_NAME
            .iter()
            .map(|(name, _)| *name)
            .chain(["regex:"])
            .collect();
        let (_, metric) = found.ok_or_else(|| names::unknown("metric", text, &valid))?;
        Ok(Choice {
            metric: *metric,
            pattern: None,
        })
    }

    /// The last number that the pattern finds.
    pub fn number(&self, output: &str) -> Option<f64> {
        let found = self.pattern.as_ref()?.captures_iter(output).last()?;
        found.get(1)?.as_str().replace([',', '_'], "").parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_by_name() {
        assert_eq!(Choice::parse("rss").unwrap().metric, Metric::Rss);
        let error = Choice::parse("rsss").unwrap_err().to_string();
        assert_eq!(error, "unknown metric 'rsss'; did you mean 'rss'?");
    }

    #[test]
    fn numbers_by_pattern() {
        let choice = Choice::parse(r"regex:ops/s: ([0-9.,]+)").unwrap();
        assert_eq!(choice.number("ops/s: 5\nops/s: 1,234.5\n"), Some(1234.5));
        assert_eq!(choice.number("nothing"), None);
        let error = Choice::parse("regex:abc").unwrap_err().to_string();
        assert_eq!(error, "--metric regex: 'abc' has no (group) for the number");
        assert!(
            Choice::parse("regex:(")
                .unwrap_err()
                .to_string()
                .starts_with("--metric regex:")
        );
    }

    #[test]
    fn values_have_units() {
        assert_eq!(Metric::Time.show(12.34), "12.3 ns");
        assert_eq!(Metric::Time.show(308_749.0), "308.7 µs");
        assert_eq!(Metric::Wall.show(0.25), "250.0 ms");
        assert_eq!(Metric::Rss.show(20_480.0), "20.0 MiB");
        assert_eq!(Metric::Number.show(2.5), "2.5");
        assert_eq!(Metric::Number.show(1000.0), "1000");
    }
}
