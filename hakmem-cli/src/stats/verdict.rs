//! When a difference may be called one.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Interval, bootstrap::ratio_of_medians_at};

/// A change above this may be claimed; a smaller one is at most "slight".
pub const CLAIM: f64 = 0.05;
/// A change below this is never called, however exact the figures are.
const TRIFLE: f64 = 0.01;

/// Confidence of the A/A interval. A verdict has to pass the 95 % interval as well, so this one
/// may be narrower: simulated, the two together call equal things different in under 2 % of
/// sessions (see docs/BENCHMARKS.md), and at 95 % many real differences would be lost.
const NOISE_CONFIDENCE: f64 = 0.80;

/// How far two sets of runs of the *same* thing were apart on this machine, in this session: the
/// reach of the A/A interval. No smaller change is called.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise(pub f64);

impl Noise {
    /// From paired runs of A and A again. `None` if they say nothing.
    pub fn measure(pairs: &[(f64, f64)]) -> Option<Noise> {
        ratio_of_medians_at(NOISE_CONFIDENCE, pairs).map(|interval| Noise(interval.reach()))
    }
}

/// The only words the lab uses, from the test's point of view, for a figure where less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    Better,
    SlightlyBetter,
    NoDifference,
    SlightlyWorse,
    Worse,
}

impl Word {
    pub fn is_difference(self) -> bool {
        self != Word::NoDifference
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Word::Better => "better",
            Word::SlightlyBetter => "slightly better",
            Word::NoDifference => "no difference",
            Word::SlightlyWorse => "slightly worse",
            Word::Worse => "worse",
        })
    }
}

/// A word and, where it is "no difference", the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub word: Word,
    pub reason: String,
}

/// Judges the ratio test/base of a figure where less is better.
pub fn judge(interval: &Interval, noise: Noise) -> Verdict {
    let change = interval.distance();
    let refusal = if !interval.excludes_one() {
        Some("the interval includes 1".to_owned())
    } else if change <= noise.0 {
        Some(format!("inside the noise of {:.1} %", noise.0 * 100.0))
    } else if change < TRIFLE {
        Some("under 1 %".to_owned())
    } else {
        None
    };
    if let Some(reason) = refusal {
        return Verdict {
            word: Word::NoDifference,
            reason,
        };
    }
    let word = match (interval.ratio < 1.0, change > CLAIM) {
        (true, true) => Word::Better,
        (true, false) => Word::SlightlyBetter,
        (false, false) => Word::SlightlyWorse,
        (false, true) => Word::Worse,
    };
    Verdict {
        word,
        reason: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(ratio: f64, low: f64, high: f64, noise: f64) -> Word {
        judge(&Interval { ratio, low, high }, Noise(noise)).word
    }

    #[test]
    fn words_need_the_interval_the_noise_and_the_size() {
        assert_eq!(word(0.80, 0.70, 0.90, 0.02), Word::Better);
        assert_eq!(word(1.20, 1.10, 1.30, 0.02), Word::Worse);
        assert_eq!(word(0.80, 0.60, 1.01, 0.02), Word::NoDifference);
        assert_eq!(word(0.92, 0.90, 0.94, 0.10), Word::NoDifference);
        assert_eq!(word(0.97, 0.96, 0.98, 0.01), Word::SlightlyBetter);
        assert_eq!(word(1.03, 1.02, 1.04, 0.01), Word::SlightlyWorse);
        assert_eq!(word(1.003, 1.002, 1.004, 0.0), Word::NoDifference);
    }

    #[test]
    fn refusals_say_why() {
        let verdict = judge(
            &Interval {
                ratio: 0.92,
                low: 0.9,
                high: 0.94,
            },
            Noise(0.1),
        );
        assert_eq!(verdict.reason, "inside the noise of 10.0 %");
        let verdict = judge(
            &Interval {
                ratio: 0.92,
                low: 0.9,
                high: 1.1,
            },
            Noise(0.0),
        );
        assert_eq!(verdict.reason, "the interval includes 1");
    }
}
