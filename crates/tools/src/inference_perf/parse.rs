//! Parser of inference-perf's `summary_lifecycle_metrics.json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use truetail_run::{ClaimedQuantile, Claims, GapMeaning, LatencyFrom, StreamClaims};

use crate::model::printed;
use crate::output_reader::OutputReader;
use crate::{ParseError, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "inference-perf";
pub(super) const TESTED: &str = "0.7.0";
pub(super) const SUMMARY: &str = "summary_lifecycle_metrics.json";
const FILE: OutputReader = OutputReader::stdout(NAME, TESTED).file(SUMMARY);

/// inference-perf's names of percentiles, and the quantiles.
const PERCENTILES: [(&str, f64); 4] = [("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

#[derive(Deserialize)]
struct Document {
    load_summary: LoadSummary,
    successes: Successes,
    failures: Failures,
}

#[derive(Deserialize)]
struct LoadSummary {
    count: u64,
    schedule_delay: Option<Times>,
}

#[derive(Deserialize)]
struct Successes {
    count: u64,
    latency: Option<Latency>,
    throughput: Option<Throughput>,
}

#[derive(Deserialize)]
struct Failures {
    count: u64,
}

#[derive(Deserialize)]
struct Throughput {
    requests_per_sec: f64,
}

#[derive(Deserialize)]
struct Latency {
    request_latency: Option<Times>,
    time_to_first_token: Option<Times>,
    inter_token_latency: Option<Times>,
}

/// Seconds by the name of the statistic.
type Times = BTreeMap<String, f64>;

/// Parses the summary. Fails if it is missing, or if inference-perf did not write it.
pub(super) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let bytes = output.file(SUMMARY).ok_or_else(|| FILE.no_result(output, "summary of inference-perf"))?;
    let document: Document = FILE.json(bytes)?;
    let streams = Some(streams(&document.successes));
    Ok(ToolReport { streams, notes: notes(&document), ..ToolReport::from_claims(claims(&document)) })
}

/// Returns the figures. Times cover only successful requests.
fn claims(document: &Document) -> Claims {
    let times = document.successes.latency.as_ref().and_then(|latency| latency.request_latency.as_ref());
    Claims {
        quantiles: quantiles(times),
        mean_ns: at(times, "mean"),
        max_ns: at(times, "max"),
        measured: Some(document.successes.count),
        requests: Some(document.load_summary.count),
        failed: Some(document.failures.count),
        rate_per_second: document.successes.throughput.as_ref().map(|rate| rate.requests_per_sec),
        ..Claims::silent(LatencyFrom::Send)
    }
}

/// Returns the figures of streams. Answers in one piece succeed without a time to first token, and the summary does not
/// say how many there were.
fn streams(successes: &Successes) -> StreamClaims {
    let latency = successes.latency.as_ref();
    let first = latency.and_then(|latency| latency.time_to_first_token.as_ref());
    let gaps = latency.and_then(|latency| latency.inter_token_latency.as_ref());
    StreamClaims {
        first: quantiles(first),
        first_max_ns: at(first, "max"),
        measured: first.map_or(Some(0), |_| None),
        gaps: quantiles(gaps),
        gap_max_ns: at(gaps, "max"),
        gap_of: GapMeaning::Event,
    }
}

fn quantiles(times: Option<&Times>) -> Vec<ClaimedQuantile> {
    let Some(times) = times else { return Vec::new() };
    PERCENTILES.into_iter().filter_map(|(name, q)| printed(q, times.get(name).copied(), 1e9)).collect()
}

fn at(times: Option<&Times>, name: &str) -> Option<u64> {
    units::nanos(*times?.get(name)?, 1e9).map(|time| time.0)
}

fn notes(document: &Document) -> Vec<String> {
    let latest = document.load_summary.schedule_delay.as_ref().and_then(|delay| delay.get("max").copied());
    let said = |seconds: f64| {
        format!("it sent the latest request {:.1} ms after it was due, which is in no latency", seconds * 1e3)
    };
    latest.filter(|seconds| *seconds > 0.0).map(said).into_iter().collect()
}
