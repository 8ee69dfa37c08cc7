//! The figures of a series: percentiles of times, and output tokens per second.

use truetail_model::time::NANOS_PER_SECOND;
use truetail_run::wire::v1::RunFile;
use truetail_run::{Distribution, Facts, StreamFindings, StreamKind, Verdict};

use super::point::Point;
use crate::figures::quantile_name;
use crate::gates::quantile_named;
use crate::streams::StreamMetric;

/// Percentiles of the response time.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Percentiles of times of streams. Each further figure is one more chance of a false alarm.
const OF_STREAMS: [f64; 3] = [0.5, 0.9, 0.99];
/// Times of language models, and of other streams.
const OF_LLM: [StreamMetric; 3] =
    [StreamMetric::FirstContent, StreamMetric::ContentGap, StreamMetric::TimePerOutputToken];
const OF_EVENTS: [StreamMetric; 2] = [StreamMetric::FirstEvent, StreamMetric::EventGap];
/// Name of the output tokens in conditions.
const OUTPUT_TOKENS: &str = "output-tokens";

/// A saved run.
#[derive(Clone, PartialEq, Debug)]
pub struct HistoryRun {
    /// Its folder.
    pub folder: String,
    /// Its load, machine and labels.
    pub facts: Facts,
    /// Verdict on its numbers.
    pub verdict: Verdict,
    /// Its response times.
    pub times: Distribution,
    /// Its times of streams, if answers were read as streams that come in pieces.
    pub streams: Option<StreamFindings>,
    /// Output tokens of complete answers per second, over the time of the answers; `None` if some were not counted.
    pub output_tokens_per_second: Option<f64>,
}

impl HistoryRun {
    /// Takes the figures from the `run.json` of a folder.
    pub fn new(folder: String, file: RunFile) -> HistoryRun {
        let verdict = file.verdict.clone();
        let times = file.response_time.clone();
        let in_pieces = file.stream.as_ref().filter(|stream| stream.facts.reading.kind != StreamKind::Whole);
        let streams = in_pieces.map(|stream| stream.times.clone());
        let answered = file.throughput_per_second.filter(|_| file.tally.responses > 0);
        let each_answer = answered.map(|per_second| per_second / file.tally.responses as f64);
        let facts = Facts::from(file);
        let llm = facts.stream.as_ref().and_then(|stream| stream.llm.as_ref());
        let tokens = llm.and_then(|llm| llm.output_tokens()).filter(|tokens| *tokens > 0);
        let output_tokens_per_second = tokens.zip(each_answer).map(|(tokens, each)| tokens as f64 * each);
        HistoryRun { folder, facts, verdict, times, streams, output_tokens_per_second }
    }
}

/// A figure that is followed over a series of runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum HistoryFigure {
    /// A percentile of the response time, in (0, 1).
    ResponseTime(f64),
    /// A percentile of a time of streams.
    StreamTime(StreamMetric, f64),
    /// Output tokens per second. Its values are the times from one to the next, so that a larger value is worse.
    OutputTokens,
}

impl HistoryFigure {
    /// Returns the figures that a series of runs may have.
    pub(super) fn of(runs: &[HistoryRun]) -> Vec<HistoryFigure> {
        let streams = || runs.iter().filter_map(|run| run.streams.as_ref());
        // Content says more than the events that carry it.
        let metrics: &[StreamMetric] = match streams().any(|streams| streams.llm.is_some()) {
            true => &OF_LLM,
            false if streams().next().is_some() => &OF_EVENTS,
            false => &[],
        };
        let of_streams = metrics.iter().flat_map(|metric| OF_STREAMS.map(|q| HistoryFigure::StreamTime(*metric, q)));
        let tokens = runs.iter().any(|run| run.output_tokens_per_second.is_some());
        let times = QUANTILES.map(HistoryFigure::ResponseTime).into_iter();
        times.chain(of_streams).chain(tokens.then_some(HistoryFigure::OutputTokens)).collect()
    }

    /// Returns the figure of a condition: `p99`, `ttft p99`, `output-tokens`. The error is a sentence about percentiles
    /// that no history looks at, or empty.
    pub(super) fn named(name: &str) -> Result<HistoryFigure, String> {
        if name == OUTPUT_TOKENS {
            return Ok(HistoryFigure::OutputTokens);
        }
        let (time, q) = name.split_once(char::is_whitespace).unwrap_or(("response-time", name));
        let q = quantile_named(q.trim()).ok_or_else(String::new)?;
        let figure = match StreamMetric::named(time) {
            Some(metric) => HistoryFigure::StreamTime(metric, q),
            None if time == "response-time" => HistoryFigure::ResponseTime(q),
            None => return Err(String::new()),
        };
        let followed: &[f64] = if figure.is_within_runs_known() { &QUANTILES } else { &OF_STREAMS };
        let is_followed = match figure {
            HistoryFigure::StreamTime(metric, _) => OF_LLM.contains(&metric) || OF_EVENTS.contains(&metric),
            HistoryFigure::ResponseTime(_) | HistoryFigure::OutputTokens => true,
        };
        if is_followed && followed.contains(&q) {
            return Ok(figure);
        }
        let names: Vec<String> = followed.iter().map(|q| quantile_name(*q)).collect();
        let of = if is_followed { String::new() } else { " of ttft, itl, tpot, first-event and event-gap".to_owned() };
        Err(format!("names a percentile that no history looks at; the ones that it does: {}{of}", names.join(", ")))
    }

    /// Returns the name in conditions and in JSON.
    pub fn name(self) -> String {
        match self {
            HistoryFigure::ResponseTime(q) => quantile_name(q),
            HistoryFigure::StreamTime(metric, q) => format!("{} {}", metric.name(), quantile_name(q)),
            HistoryFigure::OutputTokens => OUTPUT_TOKENS.to_owned(),
        }
    }

    /// Returns the loss if values changed by this ratio: the share by which a time grew, or the rate of tokens fell.
    pub(super) fn loss(self, ratio: f64) -> f64 {
        match self {
            HistoryFigure::ResponseTime(_) | HistoryFigure::StreamTime(..) => ratio - 1.0,
            HistoryFigure::OutputTokens => 1.0 - 1.0 / ratio,
        }
    }

    /// Returns the percentile, in (0, 1), if the figure is one.
    pub fn q(self) -> Option<f64> {
        match self {
            HistoryFigure::ResponseTime(q) | HistoryFigure::StreamTime(_, q) => Some(q),
            HistoryFigure::OutputTokens => None,
        }
    }

    /// Returns true if a run knows the interval of its own value. Otherwise each run counts the same.
    pub fn is_within_runs_known(self) -> bool {
        matches!(self, HistoryFigure::ResponseTime(_))
    }

    /// Returns the figure of a run as a point, if the run has it.
    pub(super) fn point(self, run: &HistoryRun) -> Option<Point> {
        let in_table = |times: &Distribution, q: f64| times.quantiles.iter().find(|of| of.q == q).copied();
        match self {
            HistoryFigure::ResponseTime(q) => Point::from_quantile(&in_table(&run.times, q)?),
            HistoryFigure::StreamTime(metric, q) => {
                let quantile = in_table(distribution(run.streams.as_ref()?, metric)?, q)?;
                let is_number = quantile.supported && !quantile.at_least && !quantile.no_answer;
                Some(Point::alone(quantile.value_ns.filter(|_| is_number)? as f64))
            }
            HistoryFigure::OutputTokens => {
                Some(Point::alone(NANOS_PER_SECOND as f64 / run.output_tokens_per_second.filter(|rate| *rate > 0.0)?))
            }
        }
    }
}

fn distribution(streams: &StreamFindings, metric: StreamMetric) -> Option<&Distribution> {
    let llm = streams.llm.as_ref();
    match metric {
        StreamMetric::FirstEvent => Some(&streams.first_event_time),
        StreamMetric::EventGap => Some(&streams.event_gap),
        StreamMetric::LongestGap => Some(&streams.longest_gap),
        StreamMetric::FirstContent => llm.map(|llm| &llm.first_content_time),
        StreamMetric::ContentGap => llm.map(|llm| &llm.content_gap),
        StreamMetric::TimePerOutputToken => llm.map(|llm| &llm.time_per_output_token),
    }
}
