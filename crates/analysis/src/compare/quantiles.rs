//! The result of a comparison at each quantile.

use serde::Serialize;

use super::estimate::{Interval, RunEstimate};
use super::ratio::{CONFIDENCE, difference};

/// Result of comparing B with A.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// B is slower: the interval of the ratio is above 1. Its upper end may be open.
    Slower,
    /// B is faster: the interval of the ratio is below 1. Its lower end may be open.
    Faster,
    /// The interval contains 1.
    NoDifferenceShown,
    /// The ratio has no interval, or one that is open at one end and does not exclude 1 at the other. Either a run is
    /// too short for this quantile, or the quantile falls among arrivals without an answer.
    CannotTell,
}

/// A quantile of a time on both sides.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct QuantileComparison {
    /// In [0, 1).
    pub q: f64,
    /// Value of A: the geometric mean over its runs. `None` if one of its runs has no value.
    pub a_ns: Option<u64>,
    /// Value of B, computed likewise.
    pub b_ns: Option<u64>,
    /// B divided by A. A bound if one side is only known from below.
    pub ratio: Option<f64>,
    /// The lower end of the ratio's confidence interval, which includes what the generators added. `None` if it is not
    /// known, for example because A is only known from below.
    pub ratio_low: Option<f64>,
    /// The upper end. `None` if it is not known, for example because B is only known from below.
    pub ratio_high: Option<f64>,
    /// Result of the comparison.
    #[serde(rename = "finding")]
    pub difference: Difference,
}

/// Compares one quantile, given the estimate of each run. `None` means that a run has no estimate.
pub fn compare_estimates(q: f64, a: &[Option<RunEstimate>], b: &[Option<RunEstimate>]) -> QuantileComparison {
    compare_estimates_at(q, a, b, CONFIDENCE)
}

/// Compares as [`compare_estimates`] does, with an interval of this confidence.
pub fn compare_estimates_at(
    q: f64,
    a: &[Option<RunEstimate>],
    b: &[Option<RunEstimate>],
    confidence: f64,
) -> QuantileComparison {
    let all = |side: &[Option<RunEstimate>]| side.iter().copied().collect::<Option<Vec<_>>>();
    let all_a = all(a);
    let all_b = all(b);
    let typical = |side: &Option<Vec<RunEstimate>>| side.as_deref().and_then(typical);
    let ns = |value: Option<f64>| value.map(|ns| ns.round() as u64);
    let a_ns = ns(typical(&all_a));
    let b_ns = ns(typical(&all_b));
    let found = all_a.zip(all_b).map_or(Ratio::default(), |(a, b)| Ratio::between(&a, &b, confidence));
    QuantileComparison {
        q,
        a_ns,
        b_ns,
        ratio: found.ratio,
        ratio_low: found.low,
        ratio_high: found.high,
        difference: difference_of(found.low, found.high),
    }
}

/// The ratio of B to A with its confidence interval. An end that is not known is `None`; without both, so is the ratio.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Ratio {
    /// Value of A: the geometric mean over its runs.
    pub(super) a: Option<f64>,
    /// Value of B.
    pub(super) b: Option<f64>,
    pub(super) ratio: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

impl Ratio {
    /// Compares the estimates of the runs of two sides.
    pub(super) fn between(a: &[RunEstimate], b: &[RunEstimate], confidence: f64) -> Ratio {
        let nothing = Ratio { a: typical(a), b: typical(b), ..Ratio::default() };
        let measured = difference(&values(a), &values(b), confidence);
        let lowest = difference(&highest(a), &without_generator(b), confidence);
        let largest = difference(&without_generator(a), &highest(b), confidence);
        let (Some(measured), Some(lowest), Some(largest)) = (measured, lowest, largest) else { return nothing };
        // A side that is only known from below bounds the ratio: from above if it is the divisor, else from below.
        let [a_is_bound, b_is_bound] = [a, b].map(|side| side.iter().any(|run| run.at_least));
        let low = measured.interval.low.zip(lowest.interval.low).map(|(one, other)| one.min(other));
        let high = measured.interval.high.zip(largest.interval.high).map(|(one, other)| one.max(other));
        let low = low.filter(|_| !a_is_bound).map(f64::exp);
        let high = high.filter(|_| !b_is_bound).map(f64::exp);
        let ratio = (low.is_some() || high.is_some()).then(|| measured.value.exp());
        Ratio { ratio, low, high, ..nothing }
    }
}

fn difference_of(low: Option<f64>, high: Option<f64>) -> Difference {
    match (low, high) {
        (Some(low), _) if low > 1.0 => Difference::Slower,
        (_, Some(high)) if high < 1.0 => Difference::Faster,
        (Some(_), Some(_)) => Difference::NoDifferenceShown,
        _ => Difference::CannotTell,
    }
}

fn values(side: &[RunEstimate]) -> Vec<(f64, Interval)> {
    side.iter().map(|run| (run.value, run.interval)).collect()
}

/// Returns the runs without what the generator added. Their intervals move by the same distance.
fn without_generator(side: &[RunEstimate]) -> Vec<(f64, Interval)> {
    let moved = |run: &RunEstimate| (run.without_generator, run.interval.moved(run.without_generator - run.value));
    side.iter().map(moved).collect()
}

/// Returns the runs as if everything that is unknown were slow. Their intervals move by the same distance.
fn highest(side: &[RunEstimate]) -> Vec<(f64, Interval)> {
    side.iter().map(|run| (run.highest, run.interval.moved(run.highest - run.value))).collect()
}

fn typical(side: &[RunEstimate]) -> Option<f64> {
    let mean = side.iter().map(|run| run.value).sum::<f64>() / side.len() as f64;
    (!side.is_empty()).then(|| mean.exp())
}
