//! The interval of a ratio of two quantiles, computed from differences of logarithms.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::estimate::Interval;

/// The confidence of intervals within a run, and of all intervals unless several looks share the error probability.
pub(super) const CONFIDENCE: f64 = 0.95;
/// Variance that the buckets of 0.1 % add: that of a value which is uniform within one bucket, as a logarithm. Runs
/// that agree to the last digit are no more certain than this.
const RESOLUTION_VARIANCE: f64 = 0.001 * 0.001 / 12.0;

/// A difference of logarithms with its confidence interval, which is open at an end that is not known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LogDifference {
    pub(super) value: f64,
    pub(super) interval: Interval,
}

/// One side: the estimate of each run, and its interval within the run.
pub(super) type Side = [(f64, Interval)];

/// Returns b − a, or `None` if no end of its interval is known. Two single runs have an interval only at 95 %.
pub(super) fn difference(a: &Side, b: &Side, confidence: f64) -> Option<LogDifference> {
    match (a, b) {
        ([], _) | (_, []) => None,
        ([_], [_]) if confidence != CONFIDENCE => None,
        ([a], [b]) => between_single_runs(*a, *b),
        _ => between_several_runs(a, b, confidence),
    }
}

/// Combines the intervals within two runs, which need not be symmetric, by the method of variance estimates recovery
/// (Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and standard deviation", 2012).
/// Each end of the result uses one end of each interval, so it is a one-sided 97.5 % bound if the others are open.
fn between_single_runs((a, of_a): (f64, Interval), (b, of_b): (f64, Interval)) -> Option<LogDifference> {
    let value = b - a;
    let low = of_b.low.zip(of_a.high).map(|(b_low, a_high)| value - (b - b_low).hypot(a_high - a));
    let high = of_b.high.zip(of_a.low).map(|(b_high, a_low)| value + (b_high - b).hypot(a - a_low));
    (low.is_some() || high.is_some()).then_some(LogDifference { value, interval: Interval { low, high } })
}

/// Welch's t interval, from how the runs of each side differ. A side with a single run is assumed to vary as the other.
fn between_several_runs(a: &Side, b: &Side, confidence: f64) -> Option<LogDifference> {
    let a = Moments::new(a);
    let b = Moments::new(b);
    let (variance_a, variance_b) = match (a.variance, b.variance) {
        (Some(a), Some(b)) => (a, b),
        (Some(one), None) | (None, Some(one)) => (one, one),
        (None, None) => return None,
    };
    let share_a = variance_a / a.count;
    let share_b = variance_b / b.count;
    let freedom = if a.variance.is_some() && b.variance.is_some() {
        (share_a + share_b).powi(2) / (share_a.powi(2) / (a.count - 1.0) + share_b.powi(2) / (b.count - 1.0))
    } else {
        a.count + b.count - 2.0
    };
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let half = student.inverse_cdf(0.5 + confidence / 2.0) * (share_a + share_b).sqrt();
    let value = b.mean - a.mean;
    let interval = Interval { low: Some(value - half), high: Some(value + half) };
    half.is_finite().then_some(LogDifference { value, interval })
}

struct Moments {
    count: f64,
    mean: f64,
    /// `None` for a single run.
    variance: Option<f64>,
}

impl Moments {
    fn new(side: &Side) -> Moments {
        let count = side.len() as f64;
        let mean = side.iter().map(|(value, _)| value).sum::<f64>() / count;
        let squares = side.iter().map(|(value, _)| (value - mean).powi(2)).sum::<f64>();
        let variance = (side.len() > 1).then(|| squares / (count - 1.0) + RESOLUTION_VARIANCE);
        Moments { count, mean, variance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(values: &[f64]) -> Vec<(f64, Interval)> {
        values.iter().map(|value| (*value, Interval::default())).collect()
    }

    fn ends(found: LogDifference) -> (f64, f64) {
        found.interval.low.zip(found.interval.high).unwrap()
    }

    fn side(value: f64) -> Vec<(f64, Interval)> {
        vec![(value, Interval { low: Some(value - 0.03), high: Some(value + 0.04) })]
    }

    /// SciPy 1.17.1: `stats.ttest_ind([0.12, 0.17, 0.10, 0.15], [0.01, 0.03, 0.02], equal_var=False)` has 3.7769
    /// degrees of freedom and the interval 0.067865 … 0.162135. Histogram resolution adds 1.4e-6 to it.
    #[test]
    fn it_is_welchs_interval() {
        let found = difference(&runs(&[0.01, 0.03, 0.02]), &runs(&[0.12, 0.17, 0.10, 0.15]), CONFIDENCE).unwrap();
        assert!((found.value - 0.115).abs() < 1e-12, "{found:?}");
        assert!((ends(found).0 - 0.067_865).abs() < 3e-6 && (ends(found).1 - 0.162_135).abs() < 3e-6, "{found:?}");
    }

    #[test]
    fn a_single_run_is_taken_to_vary_as_the_others() {
        let found = difference(&runs(&[0.0]), &runs(&[0.1, 0.2, 0.3]), CONFIDENCE).unwrap();
        // s = 0.1, t(2) = 4.3027, 0.1 · √(1 + 1/3)
        let half = 4.302_652_7 * 0.1 * (1.0f64 + 1.0 / 3.0).sqrt();
        assert!((found.value - 0.2).abs() < 1e-12 && (ends(found).1 - 0.2 - half).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn two_runs_have_what_is_known_within_them() {
        let found = difference(&side(1.0), &side(1.5), CONFIDENCE).unwrap();
        assert!((ends(found).0 - 0.45).abs() < 1e-12 && (ends(found).1 - 0.55).abs() < 1e-12, "{found:?}");
        assert_eq!(difference(&runs(&[1.0]), &runs(&[1.0]), CONFIDENCE), None);
        assert_eq!(difference(&[], &side(1.0), CONFIDENCE), None);
    }

    /// An end of the ratio's interval needs one end of each run, and does not depend on the other ends.
    #[test]
    fn an_open_end_leaves_the_other_bound() {
        let a = side(1.0);
        let b = side(1.5);
        let open = |side: &[(f64, Interval)], low: bool, high: bool| {
            let (value, ends) = side[0];
            vec![(value, Interval { low: ends.low.filter(|_| low), high: ends.high.filter(|_| high) })]
        };
        let both = difference(&a, &b, CONFIDENCE).unwrap();
        let below = difference(&open(&a, false, true), &open(&b, true, false), CONFIDENCE).unwrap();
        assert_eq!(below, LogDifference { interval: Interval { high: None, ..both.interval }, ..both });
        let above = difference(&open(&a, true, false), &open(&b, false, true), CONFIDENCE).unwrap();
        assert_eq!(above, LogDifference { interval: Interval { low: None, ..both.interval }, ..both });
        assert_eq!(difference(&open(&a, true, false), &open(&b, true, false), CONFIDENCE), None);
    }

    #[test]
    fn runs_that_agree_to_the_last_digit_are_not_certain_beyond_it() {
        let found = difference(&runs(&[1.0, 1.0]), &runs(&[1.0, 1.0]), CONFIDENCE).unwrap();
        assert!(ends(found).0 < 0.0 && ends(found).1 > 0.0 && ends(found).1 < 0.01, "{found:?}");
    }

    /// The data of `it_is_welchs_interval`. Student's density with 3.7769 degrees of freedom, integrated by Simpson's
    /// rule, leaves 0.5 % beyond 4.79522, so the interval is 0.035480 … 0.194520.
    #[test]
    fn more_confidence_is_a_wider_interval() {
        let a = runs(&[0.01, 0.03, 0.02]);
        let b = runs(&[0.12, 0.17, 0.10, 0.15]);
        let found = difference(&a, &b, 0.99).unwrap();
        assert!((ends(found).0 - 0.035_480).abs() < 1e-5 && (ends(found).1 - 0.194_520).abs() < 1e-5, "{found:?}");
        assert_eq!(difference(&side(1.0), &side(1.5), 0.99), None, "within a run only 95 % is known");
    }
}
