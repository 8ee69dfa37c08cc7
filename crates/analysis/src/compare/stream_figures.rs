//! Figures of the streams of one run, as a comparison needs them.

use truetail_run::{Findings, LlmFacts, Run, StreamFacts};

use super::estimate::RunEstimate;
use crate::gates::{bounds_of_goodput, bounds_of_quantile, ends_on_time};
use crate::streams::StreamMetric;
use crate::support::QUANTILES;

/// Figures of the streams of one run.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamFigures {
    /// The metrics that the run has, and the estimate of each compared quantile.
    pub(super) times: Vec<(StreamMetric, Vec<Option<RunEstimate>>)>,
    /// Logarithm of the output tokens of complete answers per second.
    pub(super) output_tokens_per_second: Option<RunEstimate>,
    /// `None` without objectives of each request.
    pub(super) goodput: Option<GoodputFigure>,
    /// The kernel said when events came. Otherwise, truetail may have read any of them late.
    pub(super) has_kernel_times: bool,
}

/// Goodput of one run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct GoodputFigure {
    /// The objectives of each request, sorted.
    pub(super) objectives: Vec<String>,
    /// Number of planned requests, at least 1.
    pub(super) planned: u64,
    /// The measured share of planned requests, in [0, 1].
    pub(super) share: f64,
    /// The lowest possible share.
    pub(super) lowest: f64,
    /// The highest possible share.
    pub(super) highest: f64,
}

impl StreamFigures {
    /// Returns the figures of a run; `None` if its answers were not read as streams.
    pub fn of_run(run: &Run, findings: &Findings) -> Option<StreamFigures> {
        let streams = run.facts.stream.as_ref()?;
        let is_measured = |metric: &StreamMetric| metric.is_measured_in(streams);
        let of = |metric| (metric, quantiles().map(|q| estimate(run, streams, metric, q)).collect());
        Some(StreamFigures {
            times: StreamMetric::ALL.into_iter().filter(is_measured).map(of).collect(),
            output_tokens_per_second: streams.llm.as_ref().and_then(|llm| output_tokens_per_second(run, llm)),
            goodput: goodput(run, findings),
            has_kernel_times: ends_on_time(run),
        })
    }

    pub(super) fn at(&self, metric: StreamMetric) -> Option<&[Option<RunEstimate>]> {
        self.times.iter().find(|(measured, _)| *measured == metric).map(|(_, estimates)| &estimates[..])
    }
}

/// Returns the compared quantiles, in ascending order.
pub(super) fn quantiles() -> impl Iterator<Item = f64> {
    QUANTILES.into_iter().filter(|q| *q < 1.0)
}

/// Times of streams have no interval within a run, because the dependence between the gaps of a stream is unknown.
fn estimate(run: &Run, streams: &StreamFacts, metric: StreamMetric, q: f64) -> Option<RunEstimate> {
    let quantile = metric.quantile(streams, q);
    let known = RunEstimate::from_quantile(&quantile)?;
    let (low, high) = bounds_of_quantile(run, metric, q)?;
    Some(RunEstimate {
        // 0 ns counts as 1 ns.
        without_generator: known.value.min(low.max(1.0).ln()),
        highest: if high.is_finite() { known.value.max(high.max(1.0).ln()) } else { known.value },
        at_least: known.at_least || high.is_infinite(),
        ..known
    })
}

/// If some complete answers have no count of tokens, the rate is a lower bound.
fn output_tokens_per_second(run: &Run, llm: &LlmFacts) -> Option<RunEstimate> {
    let seconds = run.snapshot.last_end.since(run.snapshot.measure_from).as_secs_f64();
    let by_client = llm.by_client.as_ref().map_or(0, |client| client.output);
    let tokens = llm.tokens.output.saturating_add(by_client);
    let is_known = tokens > 0 && seconds > 0.0;
    is_known.then(|| RunEstimate {
        at_least: llm.output_tokens().is_none(),
        ..RunEstimate::exactly((tokens as f64 / seconds).ln())
    })
}

fn goodput(run: &Run, findings: &Findings) -> Option<GoodputFigure> {
    let found = findings.stream.as_ref()?.llm.as_ref()?.goodput.as_ref()?;
    let share = found.share?;
    let (lowest, highest) = bounds_of_goodput(run, findings)?;
    let mut objectives = found.slo.clone();
    objectives.sort_unstable();
    Some(GoodputFigure {
        objectives,
        planned: found.planned,
        share,
        lowest: lowest.min(share),
        highest: highest.clamp(share, 1.0),
    })
}
