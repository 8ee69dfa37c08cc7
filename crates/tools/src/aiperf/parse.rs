//! Parser of AIPerf's `profile_export_aiperf.json`: a summary for each metric.

use serde::Deserialize;
use truetail_run::{ClaimedQuantile, Claims, GapMeaning, LatencyFrom, StreamClaims};

use crate::model::{millis, printed};
use crate::output_reader::OutputReader;
use crate::{ParseError, ToolOutput, ToolReport};

pub(super) const NAME: &str = "aiperf";
pub(super) const TESTED: &str = "0.13.0";
pub(super) const SUMMARY: &str = "profile_export_aiperf.json";
const FILE: OutputReader = OutputReader::stdout(NAME, TESTED).file(SUMMARY);

#[derive(Deserialize)]
struct Document {
    aiperf_version: String,
    request_count: Option<Metric>,
    error_request_count: Option<Metric>,
    request_throughput: Option<Metric>,
    request_latency: Option<Metric>,
    time_to_first_token: Option<Metric>,
    inter_token_latency: Option<Metric>,
    inter_chunk_latency: Option<Metric>,
}

/// Statistics of a metric. Times are in milliseconds. A count has only an average.
#[derive(Clone, Copy, Deserialize)]
struct Metric {
    avg: f64,
    p50: Option<f64>,
    p90: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
    count: Option<u64>,
}

impl Metric {
    fn quantiles(&self) -> Vec<ClaimedQuantile> {
        let stated = [(0.5, self.p50), (0.9, self.p90), (0.99, self.p99)];
        stated.into_iter().filter_map(|(q, value)| printed(q, value, 1e6)).collect()
    }
}

/// Parses the summary. Fails if it is missing, or if AIPerf did not write it.
pub(super) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let bytes = output.file(SUMMARY).ok_or_else(|| FILE.no_result(output, "summary of AIPerf"))?;
    let document: Document = FILE.json(bytes)?;
    Ok(ToolReport {
        streams: Some(streams(&document)),
        notes: notes(&document),
        version: Some(document.aiperf_version.clone()),
        ..ToolReport::from_claims(claims(&document))
    })
}

/// Returns the figures. Times cover only successful requests.
fn claims(document: &Document) -> Claims {
    let counted = |metric: Option<Metric>| metric.map_or(0, |metric| metric.avg.max(0.0) as u64);
    let good = counted(document.request_count);
    let failed = counted(document.error_request_count);
    let times = document.request_latency;
    Claims {
        quantiles: times.map_or(Vec::new(), |times| times.quantiles()),
        mean_ns: millis(times.map(|times| times.avg)),
        max_ns: millis(times.and_then(|times| times.max)),
        measured: Some(good),
        requests: Some(good.saturating_add(failed)),
        failed: Some(failed),
        rate_per_second: document.request_throughput.map(|rate| rate.avg),
        ..Claims::silent(LatencyFrom::Send)
    }
}

fn streams(document: &Document) -> StreamClaims {
    let first = document.time_to_first_token;
    let gaps = document.inter_chunk_latency;
    StreamClaims {
        first: first.map_or(Vec::new(), |times| times.quantiles()),
        first_max_ns: millis(first.and_then(|times| times.max)),
        measured: first.map_or(Some(0), |times| times.count),
        gaps: gaps.map_or(Vec::new(), |times| times.quantiles()),
        gap_max_ns: millis(gaps.and_then(|times| times.max)),
        gap_of: GapMeaning::Event,
    }
}

fn notes(document: &Document) -> Vec<String> {
    let of_answers = document.inter_token_latency.and_then(|times| Some((times.p50?, times.p99?)));
    let said =
        |(p50, p99)| format!("its ITL, the mean gap of each answer, is {p50:.1} ms at p50 and {p99:.1} ms at p99");
    of_answers.map(said).into_iter().collect()
}
