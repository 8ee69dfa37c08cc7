//! The result of a comparison at each quantile.

use serde::Serialize;
use truetail_run::{Findings, Quantile};

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

/// A quantile of the response time on both sides.
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

/// Two sides compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// Number of runs of A.
    pub runs_a: usize,
    /// Number of runs of B.
    pub runs_b: usize,
    /// The confidence of the intervals: 0.95, or more if several looks share the error probability.
    pub confidence: f64,
    /// The quantiles, in ascending order.
    pub quantiles: Vec<QuantileComparison>,
}

impl Comparison {
    /// Returns true if a side has several runs, so that the difference between runs is known.
    pub fn between_runs_known(&self) -> bool {
        self.runs_a > 1 || self.runs_b > 1
    }

    /// Returns the comparison at `q`, if `q` was compared.
    pub fn at(&self, q: f64) -> Option<&QuantileComparison> {
        self.quantiles.iter().find(|quantile| quantile.q == q)
    }
}

/// Compares the quantiles of the response time that the findings of runs have, except the largest value.
pub fn compare(a: &[&Findings], b: &[&Findings]) -> Comparison {
    compare_at(a, b, CONFIDENCE)
}

/// Compares as [`compare`] does, with intervals of this confidence, for one of several looks at runs that follow each
/// other. Two single runs have an interval only at 95 %.
pub fn compare_at(a: &[&Findings], b: &[&Findings], confidence: f64) -> Comparison {
    let quantiles = a.first().map_or(&[][..], |findings| &findings.response_time.quantiles);
    let compared = quantiles.iter().map(|quantile| quantile.q).filter(|q| *q < 1.0);
    let quantiles = compared.map(|q| compare_estimates_at(q, &estimates(a, q), &estimates(b, q), confidence)).collect();
    Comparison { runs_a: a.len(), runs_b: b.len(), confidence, quantiles }
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
    let typical = |side: &Option<Vec<RunEstimate>>| side.as_deref().and_then(typical_ns);
    let nothing = QuantileComparison {
        q,
        a_ns: typical(&all_a),
        b_ns: typical(&all_b),
        ratio: None,
        ratio_low: None,
        ratio_high: None,
        difference: Difference::CannotTell,
    };
    let (Some(a), Some(b)) = (all_a, all_b) else { return nothing };
    let measured = difference(&values(&a), &values(&b), confidence);
    let lowest = difference(&values(&a), &without_generator(&b), confidence);
    let highest = difference(&without_generator(&a), &values(&b), confidence);
    let (Some(measured), Some(lowest), Some(highest)) = (measured, lowest, highest) else { return nothing };
    // A side that is only known from below bounds the ratio: from above if it is the divisor, else from below.
    let [a_is_bound, b_is_bound] = [&a, &b].map(|side| side.iter().any(|run| run.at_least));
    let low = measured.interval.low.zip(lowest.interval.low).map(|(one, other)| one.min(other)).filter(|_| !a_is_bound);
    let high =
        measured.interval.high.zip(highest.interval.high).map(|(one, other)| one.max(other)).filter(|_| !b_is_bound);
    if low.is_none() && high.is_none() {
        return nothing;
    }
    QuantileComparison {
        ratio: Some(measured.value.exp()),
        ratio_low: low.map(f64::exp),
        ratio_high: high.map(f64::exp),
        difference: difference_of(low, high),
        ..nothing
    }
}

fn difference_of(low: Option<f64>, high: Option<f64>) -> Difference {
    match (low, high) {
        (Some(low), _) if low > 0.0 => Difference::Slower,
        (_, Some(high)) if high < 0.0 => Difference::Faster,
        (Some(_), Some(_)) => Difference::NoDifferenceShown,
        _ => Difference::CannotTell,
    }
}

fn estimates(side: &[&Findings], q: f64) -> Vec<Option<RunEstimate>> {
    let at = |findings: &&Findings| {
        let quantile = findings.response_time.quantiles.iter().find(|quantile: &&Quantile| quantile.q == q)?;
        RunEstimate::from_quantile(quantile)
    };
    side.iter().map(at).collect()
}

fn values(side: &[RunEstimate]) -> Vec<(f64, Interval)> {
    side.iter().map(|run| (run.value, run.interval)).collect()
}

/// Returns the runs without what the generator added. Their intervals move by the same distance.
fn without_generator(side: &[RunEstimate]) -> Vec<(f64, Interval)> {
    let moved = |run: &RunEstimate| (run.without_generator, run.interval.moved(run.without_generator - run.value));
    side.iter().map(moved).collect()
}

fn typical_ns(side: &[RunEstimate]) -> Option<u64> {
    let mean = side.iter().map(|run| run.value).sum::<f64>() / side.len() as f64;
    (!side.is_empty()).then(|| mean.exp().round() as u64)
}
