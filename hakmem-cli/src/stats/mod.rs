//! What a set of measurements allows one to say, and no more.
//!
//! `bootstrap` turns paired runs into a ratio with an interval; `verdict` turns the interval, and
//! the machine's own noise, into a word or refuses to. Pure functions: the same numbers give the
//! same answer.

pub mod bootstrap;
pub mod verdict;

pub use bootstrap::{Interval, ratio_of_medians, ratio_of_ratios};
pub use verdict::{Noise, Verdict, Word, judge};

/// The median; the mean of the middle two for an even count. `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some((sorted[last / 2] + sorted[last.div_ceil(2)]) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[1.0, 1.0, 1.0, 9.0]), Some(1.0));
    }
}
