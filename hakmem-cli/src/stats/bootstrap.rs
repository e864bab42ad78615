//! Bootstrap intervals for ratios of medians.
//!
//! Runs are paired by round: in one round every contestant ran once, so whatever the machine did
//! in that round it did to all. Resampling draws whole rounds and keeps the pairs together.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Confidence of every interval the lab prints.
pub const CONFIDENCE: f64 = 0.95;
/// Resamples per interval.
const RESAMPLES: usize = 4_000;
/// Fewer rounds say nothing about the spread.
pub const MIN_ROUNDS: usize = 5;
/// Fixed, so that the same measurements always give the same interval.
const SEED: u64 = 0x6861_6b6d_656d;

/// A ratio with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub fn excludes_one(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }

    /// The farthest that the interval reaches from 1, as a fraction in either direction.
    pub fn reach(&self) -> f64 {
        self.low.ln().abs().max(self.high.ln().abs()).exp_m1()
    }

    /// The distance of the ratio itself from 1, symmetric: 0.8 is as far as 1.25.
    pub fn distance(&self) -> f64 {
        self.ratio.ln().abs().exp_m1()
    }
}

/// Interval of `median(test) / median(base)` over paired runs; `pairs` holds (base, test).
/// `None` with fewer than [`MIN_ROUNDS`] pairs or when a value is not a positive number.
pub fn ratio_of_medians(pairs: &[(f64, f64)]) -> Option<Interval> {
    ratio_of_medians_at(CONFIDENCE, pairs)
}

/// As [`ratio_of_medians`], with a confidence of one's own.
pub fn ratio_of_medians_at(confidence: f64, pairs: &[(f64, f64)]) -> Option<Interval> {
    if !usable(pairs) {
        return None;
    }
    let mut sample = Sample::new(pairs);
    let mut rng = fastrand::Rng::with_seed(SEED);
    let ratio = sample.ratio();
    let logs = (0..RESAMPLES)
        .map(|_| sample.resampled(&mut rng).ln())
        .collect();
    Some(interval(ratio, logs, pairs.len(), confidence))
}

/// Interval of one ratio of medians over another, from two independent sets of paired runs:
/// what changed between two benchmark sessions, each measured against its own baseline.
pub fn ratio_of_ratios(before: &[(f64, f64)], after: &[(f64, f64)]) -> Option<Interval> {
    if !usable(before) || !usable(after) {
        return None;
    }
    let (mut old, mut new) = (Sample::new(before), Sample::new(after));
    let mut rng = fastrand::Rng::with_seed(SEED);
    let ratio = new.ratio() / old.ratio();
    let logs = (0..RESAMPLES)
        .map(|_| (new.resampled(&mut rng) / old.resampled(&mut rng)).ln())
        .collect();
    Some(interval(
        ratio,
        logs,
        before.len().min(after.len()),
        CONFIDENCE,
    ))
}

fn usable(pairs: &[(f64, f64)]) -> bool {
    pairs.len() >= MIN_ROUNDS
        && pairs
            .iter()
            .all(|&(a, b)| a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite())
}

/// Paired runs, sorted once: a resample is then a count per round, and its median a walk.
struct Sample {
    base: Vec<(f64, usize)>,
    test: Vec<(f64, usize)>,
    /// How often the resample drew each round.
    drawn: Vec<usize>,
}

impl Sample {
    fn new(pairs: &[(f64, f64)]) -> Sample {
        let sorted = |values: Vec<f64>| {
            let mut ranked: Vec<_> = values.into_iter().zip(0..).collect();
            ranked.sort_unstable_by(|a, b| f64::total_cmp(&a.0, &b.0));
            ranked
        };
        Sample {
            base: sorted(pairs.iter().map(|pair| pair.0).collect()),
            test: sorted(pairs.iter().map(|pair| pair.1).collect()),
            drawn: vec![1; pairs.len()],
        }
    }

    fn ratio(&self) -> f64 {
        self.median(&self.test) / self.median(&self.base)
    }

    fn resampled(&mut self, rng: &mut fastrand::Rng) -> f64 {
        let rounds = self.drawn.len();
        self.drawn.fill(0);
        for _ in 0..rounds {
            self.drawn[rng.usize(..rounds)] += 1;
        }
        self.ratio()
    }

    /// The mean of the middle two, which are one value for an odd count.
    fn median(&self, ranked: &[(f64, usize)]) -> f64 {
        let rounds = self.drawn.len();
        let (first, second) = ((rounds - 1) / 2, rounds / 2);
        let mut passed = 0;
        let mut lower = None;
        for &(value, round) in ranked {
            passed += self.drawn[round];
            if lower.is_none() && passed > first {
                lower = Some(value);
            }
            if passed > second {
                return (lower.unwrap_or(value) + value) / 2.0;
            }
        }
        f64::NAN // unreachable: the draws add up to the number of rounds
    }
}

fn interval(ratio: f64, mut logs: Vec<f64>, rounds: usize, confidence: f64) -> Interval {
    logs.sort_unstable_by(f64::total_cmp);
    let tail = expanded_tail(rounds, confidence);
    let last = logs.len() - 1;
    let cut = ((last as f64) * tail).floor() as usize;
    Interval {
        ratio,
        low: logs[cut].exp().min(ratio),
        high: logs[last - cut].exp().max(ratio),
    }
}

/// The tail to cut on each side. The plain percentile interval is too narrow for few rounds; the
/// expanded one (Hesterberg 2015, "What Teachers Should Know About the Bootstrap") widens it as
/// Student's t does the normal interval.
fn expanded_tail(rounds: usize, confidence: f64) -> f64 {
    let n = rounds as f64;
    let Ok(student) = StudentsT::new(0.0, 1.0, n - 1.0) else {
        return 0.0; // unreachable: MIN_ROUNDS keeps the degrees of freedom positive
    };
    let t = student.inverse_cdf(1.0 - (1.0 - confidence) / 2.0);
    Normal::standard().cdf(-(n / (n - 1.0)).sqrt() * t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::median;

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance
    }

    #[test]
    fn tails_widen_for_few_rounds() {
        // t(0.975, 4) = 2.7764, times sqrt(5/4) = 3.1042, normal tail 0.00095.
        assert!(close(expanded_tail(5, 0.95), 0.000_954, 0.000_005));
        // t(0.975, 19) = 2.0930, times sqrt(20/19) = 2.1474, normal tail 0.01588.
        assert!(close(expanded_tail(20, 0.95), 0.015_88, 0.000_05));
        assert!(close(expanded_tail(100_000, 0.95), 0.025, 0.000_05));
    }

    #[test]
    fn identical_runs_have_a_point_interval() {
        let pairs = [(2.0, 1.0); 6];
        let i = ratio_of_medians(&pairs).unwrap();
        assert_eq!((i.ratio, i.low, i.high), (0.5, 0.5, 0.5));
        assert!(i.excludes_one());
        assert!(close(i.distance(), 1.0, 1e-12), "0.5 is as far as 2.0");
    }

    #[test]
    fn the_ratio_is_that_of_the_medians() {
        let pairs = [(1.0, 2.0), (2.0, 4.0), (3.0, 9.0), (4.0, 8.0), (100.0, 9.5)];
        let i = ratio_of_medians(&pairs).unwrap();
        assert_eq!(i.ratio, 8.0 / 3.0);
        assert!(i.low <= i.ratio && i.ratio <= i.high);
    }

    #[test]
    fn the_walk_finds_the_median_of_the_resample() {
        for rounds in [5, 6, 9, 20] {
            let mut rng = fastrand::Rng::with_seed(rounds as u64);
            let pairs: Vec<_> = (0..rounds).map(|_| (rng.f64(), rng.f64())).collect();
            let mut sample = Sample::new(&pairs);
            for _ in 0..50 {
                let ratio = sample.resampled(&mut rng);
                let drawn = |pick: fn(&(f64, f64)) -> f64| -> Vec<f64> {
                    let copies = pairs.iter().zip(&sample.drawn);
                    copies
                        .flat_map(|(p, &n)| std::iter::repeat_n(pick(p), n))
                        .collect()
                };
                let expected = median(&drawn(|p| p.1)).unwrap() / median(&drawn(|p| p.0)).unwrap();
                assert_eq!(ratio, expected);
            }
        }
    }

    #[test]
    fn same_numbers_same_interval() {
        let pairs: Vec<_> = (0..9).map(|i| (1.0 + f64::from(i) / 50.0, 1.1)).collect();
        assert_eq!(ratio_of_medians(&pairs), ratio_of_medians(&pairs));
    }

    #[test]
    fn too_few_or_unusable_values_give_nothing() {
        assert_eq!(ratio_of_medians(&[(1.0, 1.0); 4]), None);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut pairs = [(1.0, 1.0); 6];
            pairs[3].1 = bad;
            assert_eq!(ratio_of_medians(&pairs), None);
        }
    }

    #[test]
    fn ratio_of_ratios_cancels_the_machine() {
        // The second machine is three times slower for everybody; the change itself is 10 %.
        let before = [(1.0, 0.5); 5];
        let after = [(3.0, 1.65); 7];
        let i = ratio_of_ratios(&before, &after).unwrap();
        assert!(close(i.ratio, 1.1, 1e-12));
        assert!(i.excludes_one());
    }

    #[test]
    fn reach_is_symmetric() {
        let i = Interval {
            ratio: 1.0,
            low: 0.8,
            high: 1.1,
        };
        assert!(close(i.reach(), 0.25, 1e-12));
        assert!(!i.excludes_one());
    }
}
