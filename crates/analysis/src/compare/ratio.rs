//! The intervals of a ratio of two quantiles, from differences of logarithms, and of a difference of shares.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::estimate::Interval;

/// The confidence of intervals within a run, and of all intervals unless several looks share the error probability.
pub(super) const CONFIDENCE: f64 = 0.95;
/// Variance that the buckets of 0.1 % add: that of a value which is uniform within one bucket, as a logarithm. Runs
/// that agree to the last digit are no more certain than this.
const RESOLUTION_VARIANCE: f64 = 0.001 * 0.001 / 12.0;

/// A difference of logarithms or shares with its confidence interval, which is open at an end that is not known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct SideDifference {
    pub(super) value: f64,
    pub(super) interval: Interval,
}

/// One side: the estimate of each run, and its interval within the run.
pub(super) type Side = [(f64, Interval)];

/// A share of the planned requests of one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct RunShare {
    pub(super) share: f64,
    pub(super) planned: u64,
}

/// Returns b − a, or `None` if no end of its interval is known. Two single runs have an interval only at 95 %.
pub(super) fn difference(a: &Side, b: &Side, confidence: f64) -> Option<SideDifference> {
    match (a, b) {
        ([], _) | (_, []) => None,
        ([_], [_]) if confidence != CONFIDENCE => None,
        ([a], [b]) => between_single_runs(*a, *b),
        _ => between_several_runs(&Moments::of_logarithms(a), &Moments::of_logarithms(b), confidence),
    }
}

/// Returns b − a with Welch's t interval; `None` unless a side has several runs.
pub(super) fn difference_of_shares(a: &[RunShare], b: &[RunShare], confidence: f64) -> Option<SideDifference> {
    between_several_runs(&Moments::of_shares(a), &Moments::of_shares(b), confidence)
}

/// Combines the intervals within two runs, which need not be symmetric, by the method of variance estimates recovery
/// (Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and standard deviation", 2012).
/// Each end of the result uses one end of each interval, so it is a one-sided 97.5 % bound if the others are open.
fn between_single_runs((a, of_a): (f64, Interval), (b, of_b): (f64, Interval)) -> Option<SideDifference> {
    let value = b - a;
    let low = of_b.low.zip(of_a.high).map(|(b_low, a_high)| value - (b - b_low).hypot(a_high - a));
    let high = of_b.high.zip(of_a.low).map(|(b_high, a_low)| value + (b_high - b).hypot(a - a_low));
    (low.is_some() || high.is_some()).then_some(SideDifference { value, interval: Interval { low, high } })
}

/// Welch's t interval, from how the runs of each side differ. A side with a single run is assumed to vary as the other.
fn between_several_runs(a: &Moments, b: &Moments, confidence: f64) -> Option<SideDifference> {
    let (variance_a, variance_b) = match (a.variance, b.variance) {
        (Some(a), Some(b)) => (a, b),
        (Some(one), None) | (None, Some(one)) => (one, one),
        (None, None) => return None,
    };
    let share_a = variance_a.max(a.least_variance) / a.count;
    let share_b = variance_b.max(b.least_variance) / b.count;
    let freedom = if a.variance.is_some() && b.variance.is_some() {
        (share_a + share_b).powi(2) / (share_a.powi(2) / (a.count - 1.0) + share_b.powi(2) / (b.count - 1.0))
    } else {
        a.count + b.count - 2.0
    };
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let half = student.inverse_cdf(0.5 + confidence / 2.0) * (share_a + share_b).sqrt();
    let value = b.mean - a.mean;
    let interval = Interval { low: Some(value - half), high: Some(value + half) };
    half.is_finite().then_some(SideDifference { value, interval })
}

struct Moments {
    count: f64,
    mean: f64,
    /// `None` for a single run.
    variance: Option<f64>,
    /// Variance of a run that is known without other runs.
    least_variance: f64,
}

impl Moments {
    fn new(values: impl ExactSizeIterator<Item = f64> + Clone) -> Moments {
        let runs = values.len();
        let count = runs as f64;
        let mean = values.clone().sum::<f64>() / count;
        let squares = values.map(|value| (value - mean).powi(2)).sum::<f64>();
        let variance = (runs > 1).then(|| squares / (count - 1.0));
        Moments { count, mean, variance, least_variance: 0.0 }
    }

    fn of_logarithms(side: &Side) -> Moments {
        let moments = Moments::new(side.iter().map(|(value, _)| *value));
        Moments { variance: moments.variance.map(|variance| variance + RESOLUTION_VARIANCE), ..moments }
    }

    /// Runs vary at least by chance within them, even if their shares are equal. That is the variance of a binomial
    /// share, from the requests of all runs. One more request that counts and one that does not keep it above 0.
    fn of_shares(side: &[RunShare]) -> Moments {
        let moments = Moments::new(side.iter().map(|run| run.share));
        let planned: f64 = side.iter().map(|run| run.planned as f64).sum();
        let met: f64 = side.iter().map(|run| run.share * run.planned as f64).sum();
        let pooled = (met + 1.0) / (planned + 2.0);
        let per_request = side.iter().map(|run| 1.0 / run.planned as f64).sum::<f64>() / moments.count;
        Moments { least_variance: pooled * (1.0 - pooled) * per_request, ..moments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(values: &[f64]) -> Vec<(f64, Interval)> {
        values.iter().map(|value| (*value, Interval::default())).collect()
    }

    fn ends(found: SideDifference) -> (f64, f64) {
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
        assert_eq!(below, SideDifference { interval: Interval { high: None, ..both.interval }, ..both });
        let above = difference(&open(&a, true, false), &open(&b, false, true), CONFIDENCE).unwrap();
        assert_eq!(above, SideDifference { interval: Interval { low: None, ..both.interval }, ..both });
        assert_eq!(difference(&open(&a, true, false), &open(&b, true, false), CONFIDENCE), None);
    }

    #[test]
    fn runs_that_agree_to_the_last_digit_are_not_certain_beyond_it() {
        let found = difference(&runs(&[1.0, 1.0]), &runs(&[1.0, 1.0]), CONFIDENCE).unwrap();
        assert!(ends(found).0 < 0.0 && ends(found).1 > 0.0 && ends(found).1 < 0.01, "{found:?}");
    }

    fn shares(met: &[u64]) -> Vec<RunShare> {
        met.iter().map(|met| RunShare { share: *met as f64 / 20.0, planned: 20 }).collect()
    }

    /// Two runs of 20 requests each, all of which met the objectives: the variance of a run is 41/42 · 1/42 / 20, and
    /// t(2) = 4.302653, so the half width is 0.146678. A service of 95 % shows such runs with a probability of 13 %.
    #[test]
    fn equal_shares_have_the_chance_within_the_runs() {
        let all = shares(&[20, 20]);
        let found = difference_of_shares(&all, &all, CONFIDENCE).unwrap();
        assert!((ends(found).1 - 0.146_678).abs() < 1e-5 && (ends(found).0 + ends(found).1).abs() < 1e-12, "{found:?}");
        let none = shares(&[0, 0]);
        let found = difference_of_shares(&all, &none, CONFIDENCE).unwrap();
        assert!((ends(found).0 + 1.146_678).abs() < 1e-5 && (ends(found).1 + 0.853_322).abs() < 1e-5, "{found:?}");
    }

    /// The shares 0.2 and 0.8 differ by more than chance makes them differ, so their variance 0.18 is taken.
    #[test]
    fn shares_that_differ_more_have_their_own_variance() {
        let found = difference_of_shares(&shares(&[4, 16]), &shares(&[4, 16]), CONFIDENCE).unwrap();
        assert!((ends(found).1 - 4.302_652_7 * 0.18f64.sqrt()).abs() < 1e-4, "{found:?}");
        assert_eq!(
            difference_of_shares(&shares(&[4]), &shares(&[16]), CONFIDENCE),
            None,
            "runs may differ by any amount"
        );
    }

    /// A single run is taken to vary as the others do, and at least by its chance: 11/22 · 11/22 / 20 = 0.0125.
    #[test]
    fn a_single_run_has_at_least_its_chance() {
        let found = difference_of_shares(&shares(&[20, 20, 20]), &shares(&[10]), CONFIDENCE).unwrap();
        // The variance of A is 61/62 · 1/62 / 20 = 0.00079344 a run. Two degrees of freedom.
        let half = 4.302_652_7 * (0.000_793_44f64 / 3.0 + 0.0125).sqrt();
        assert!((ends(found).1 + 0.5 - half).abs() < 1e-5, "{found:?}");
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
