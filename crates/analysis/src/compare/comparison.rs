//! Two sides compared.

use truetail_run::{Findings, Quantile};

use super::estimate::RunEstimate;
use super::quantiles::{QuantileComparison, compare_estimates_at};
use super::ratio::CONFIDENCE;
use super::stream_figures::StreamFigures;
use super::streams::{StreamsComparison, compare_streams};

/// Two sides compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// Number of runs of A.
    pub runs_a: usize,
    /// Number of runs of B.
    pub runs_b: usize,
    /// The confidence of the intervals: 0.95, or more if several looks share the error probability.
    pub confidence: f64,
    /// The quantiles of the response time, in ascending order.
    pub quantiles: Vec<QuantileComparison>,
    /// The streams; `None` unless all runs have streams.
    pub streams: Option<StreamsComparison>,
    /// True if some runs have streams and others do not, so that streams are not compared.
    pub only_some_have_streams: bool,
}

impl Comparison {
    /// Returns true if a side has several runs, so that the difference between runs is known.
    pub fn between_runs_known(&self) -> bool {
        self.runs_a > 1 || self.runs_b > 1
    }

    /// Adds the streams of the same runs, if all of them have streams.
    #[must_use]
    pub fn with_streams<'s>(
        self,
        a: impl IntoIterator<Item = Option<&'s StreamFigures>>,
        b: impl IntoIterator<Item = Option<&'s StreamFigures>>,
    ) -> Comparison {
        let a: Vec<Option<&StreamFigures>> = a.into_iter().collect();
        let b: Vec<Option<&StreamFigures>> = b.into_iter().collect();
        let some = a.iter().chain(&b).any(Option::is_some);
        let all = |side: Vec<Option<&'s StreamFigures>>| side.into_iter().collect::<Option<Vec<_>>>();
        let both = all(a).zip(all(b)).filter(|(a, b)| !a.is_empty() && !b.is_empty());
        let streams = both.map(|(a, b)| compare_streams(&a, &b, self.confidence));
        Comparison { only_some_have_streams: some && streams.is_none(), streams, ..self }
    }

    /// Returns the comparison of the response time at `q`, if `q` was compared.
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
    Comparison { runs_a: a.len(), runs_b: b.len(), confidence, quantiles, streams: None, only_some_have_streams: false }
}

fn estimates(side: &[&Findings], q: f64) -> Vec<Option<RunEstimate>> {
    let at = |findings: &&Findings| {
        let quantile = findings.response_time.quantiles.iter().find(|quantile: &&Quantile| quantile.q == q)?;
        RunEstimate::from_quantile(quantile)
    };
    side.iter().map(at).collect()
}
