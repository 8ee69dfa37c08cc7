//! The streams of two sides compared.

use serde::Serialize;

use super::estimate::{Interval, RunEstimate};
use super::quantiles::{QuantileComparison, Ratio, compare_estimates_at};
use super::ratio::{RunShare, difference_of_shares};
use super::stream_figures::{GoodputFigure, StreamFigures, quantiles};
use crate::streams::StreamMetric;

/// The streams of two sides compared.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StreamsComparison {
    /// The times that all runs have.
    pub times: Vec<StreamTimeComparison>,
    /// Output tokens of complete answers per second; `None` unless all runs have a count.
    pub output_tokens_per_second: Option<RateComparison>,
    /// Share of planned requests that met the objectives of each request. `None` unless all runs have the same
    /// objectives.
    pub goodput: Option<ShareComparison>,
    /// True if the runs have different objectives of each request.
    #[serde(skip)]
    pub objectives_differ: bool,
    /// True if the kernel said when events came in all runs.
    #[serde(skip)]
    pub has_kernel_times: bool,
}

/// Quantiles of a time of streams on both sides.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StreamTimeComparison {
    /// The time.
    pub metric: StreamMetric,
    /// In ascending order. Without an interval, `ratio` is that of the values.
    pub quantiles: Vec<QuantileComparison>,
}

/// Direction of a difference of a figure of which more is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The interval is above that of equal sides.
    Higher,
    /// The interval is below that of equal sides.
    Lower,
    /// The interval contains equal sides.
    NoDifferenceShown,
    /// There is no interval, or one that is open at the end that would decide.
    CannotTell,
}

/// A rate on both sides.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct RateComparison {
    /// Rate of A per second: the geometric mean over its runs.
    pub a: Option<f64>,
    /// Rate of B, computed likewise.
    pub b: Option<f64>,
    /// B divided by A. A bound if the tokens of some answers were not counted.
    pub ratio: Option<f64>,
    /// The lower end of the ratio's confidence interval; `None` if it is not known.
    pub ratio_low: Option<f64>,
    /// The upper end; `None` if it is not known.
    pub ratio_high: Option<f64>,
    /// Result of the comparison.
    #[serde(rename = "finding")]
    pub change: Change,
}

/// A share in [0, 1] on both sides.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ShareComparison {
    /// Share of A: the mean over its runs.
    pub a: f64,
    /// Share of B.
    pub b: f64,
    /// B less A.
    pub difference: f64,
    /// The lower end of the difference's confidence interval; `None` without an interval.
    pub difference_low: Option<f64>,
    /// The upper end; `None` without an interval.
    pub difference_high: Option<f64>,
    /// Result of the comparison.
    #[serde(rename = "finding")]
    pub change: Change,
}

impl StreamsComparison {
    /// Returns the comparison of a time at `q`, if both were compared.
    pub fn at(&self, metric: StreamMetric, q: f64) -> Option<&QuantileComparison> {
        let time = self.times.iter().find(|time| time.metric == metric)?;
        time.quantiles.iter().find(|quantile| quantile.q == q)
    }
}

/// Compares the streams of runs.
pub(super) fn compare_streams(a: &[&StreamFigures], b: &[&StreamFigures], confidence: f64) -> StreamsComparison {
    let rate = |run: &&StreamFigures| run.output_tokens_per_second;
    let rates = |side: &[&StreamFigures]| side.iter().map(rate).collect::<Option<Vec<_>>>();
    let goodputs = |side: &[&StreamFigures]| side.iter().map(|run| run.goodput.clone()).collect::<Option<Vec<_>>>();
    let goodputs = goodputs(a).zip(goodputs(b));
    let has_same_objectives = |(a, b): &(Vec<GoodputFigure>, Vec<GoodputFigure>)| {
        a.iter().chain(b).all(|run| run.objectives == a[0].objectives)
    };
    let objectives_differ = goodputs.as_ref().is_some_and(|both| !has_same_objectives(both));
    StreamsComparison {
        times: StreamMetric::ALL.into_iter().filter_map(|metric| compare_times(metric, a, b, confidence)).collect(),
        output_tokens_per_second: rates(a).zip(rates(b)).map(|(a, b)| compare_rates(&a, &b, confidence)),
        goodput: goodputs.filter(has_same_objectives).map(|(a, b)| compare_shares(&a, &b, confidence)),
        objectives_differ,
        has_kernel_times: a.iter().chain(b).all(|run| run.has_kernel_times),
    }
}

fn compare_times(
    metric: StreamMetric,
    a: &[&StreamFigures],
    b: &[&StreamFigures],
    confidence: f64,
) -> Option<StreamTimeComparison> {
    let of = |side: &[&StreamFigures]| {
        side.iter().map(|run| run.at(metric).map(<[_]>::to_vec)).collect::<Option<Vec<Vec<_>>>>()
    };
    let a = of(a)?;
    let b = of(b)?;
    let at = |side: &[Vec<Option<RunEstimate>>], number: usize| side.iter().map(|run| run[number]).collect::<Vec<_>>();
    let compare = |(number, q)| with_ratio_of_values(q, &at(&a, number), &at(&b, number), confidence);
    Some(StreamTimeComparison { metric, quantiles: quantiles().enumerate().map(compare).collect() })
}

/// Compares a quantile. If the ratio has no interval because each side has one run, it is that of the values.
fn with_ratio_of_values(
    q: f64,
    a: &[Option<RunEstimate>],
    b: &[Option<RunEstimate>],
    confidence: f64,
) -> QuantileComparison {
    let found = compare_estimates_at(q, a, b, confidence);
    let is_bound = a.iter().chain(b).flatten().any(|run| run.at_least);
    let ratio = found.a_ns.zip(found.b_ns).filter(|_| !is_bound).map(|(a, b)| b as f64 / a.max(1) as f64);
    QuantileComparison { ratio: found.ratio.or(ratio), ..found }
}

fn compare_rates(a: &[RunEstimate], b: &[RunEstimate], confidence: f64) -> RateComparison {
    let found = Ratio::between(a, b, confidence);
    RateComparison {
        a: found.a,
        b: found.b,
        ratio: found.ratio.or_else(|| Some(found.b? / found.a?)),
        ratio_low: found.low,
        ratio_high: found.high,
        change: change(found.low, found.high, 1.0),
    }
}

/// Compares shares by their differences, because a share may be 0.
fn compare_shares(a: &[GoodputFigure], b: &[GoodputFigure], confidence: f64) -> ShareComparison {
    type Share = fn(&GoodputFigure) -> f64;
    let of = |side: &[GoodputFigure], share: Share| {
        side.iter().map(|run| RunShare { share: share(run), planned: run.planned }).collect::<Vec<_>>()
    };
    let interval = |of_a: Share, of_b: Share| {
        difference_of_shares(&of(a, of_a), &of(b, of_b), confidence).map_or(Interval::default(), |found| found.interval)
    };
    let mean = |side: &[GoodputFigure]| side.iter().map(|run| run.share).sum::<f64>() / side.len() as f64;
    let measured = interval(|run| run.share, |run| run.share);
    let lowest = interval(|run| run.highest, |run| run.lowest);
    let highest = interval(|run| run.lowest, |run| run.highest);
    let low = measured.low.zip(lowest.low).map(|(one, other)| one.min(other).max(-1.0));
    let high = measured.high.zip(highest.high).map(|(one, other)| one.max(other).min(1.0));
    ShareComparison {
        a: mean(a),
        b: mean(b),
        difference: mean(b) - mean(a),
        difference_low: low,
        difference_high: high,
        change: change(low, high, 0.0),
    }
}

/// Returns the direction that an interval shows. Sides without a difference have the value `equal`.
fn change(low: Option<f64>, high: Option<f64>, equal: f64) -> Change {
    match (low, high) {
        (Some(low), _) if low > equal => Change::Higher,
        (_, Some(high)) if high < equal => Change::Lower,
        (Some(_), Some(_)) => Change::NoDifferenceShown,
        _ => Change::CannotTell,
    }
}
