//! GuideLLM's `benchmarks.json`: sums of the benchmark, and each request.

use std::collections::BTreeMap;

use serde::Deserialize;
use truetail_run::{ClaimedQuantile, Claims, GapOf, LatencyFrom, StreamClaims};

use crate::model::{millis, printed};
use crate::output_reader::OutputReader;
use crate::{ParseError, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "guidellm";
pub(super) const TESTED: &str = "0.8.1";
pub(super) const BENCHMARKS: &str = "benchmarks.json";
const FILE: OutputReader = OutputReader::stdout(NAME, TESTED).file(BENCHMARKS);

/// GuideLLM's names of percentiles, and the quantiles.
const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)];

#[derive(Deserialize)]
struct Document {
    metadata: Metadata,
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Metadata {
    guidellm_version: String,
}

#[derive(Deserialize)]
struct Benchmark {
    metrics: Metrics,
}

#[derive(Deserialize)]
struct Metrics {
    request_totals: Totals,
    requests_per_second: ByStatus,
    request_latency: ByStatus,
    request_dispatch_delay: Option<ByStatus>,
    time_to_first_token_ms: ByStatus,
    inter_token_latency_ms: ByStatus,
}

#[derive(Deserialize)]
struct Totals {
    successful: u64,
    incomplete: u64,
    errored: u64,
    total: u64,
}

#[derive(Deserialize)]
struct ByStatus {
    successful: Option<Summary>,
}

#[derive(Deserialize)]
struct Summary {
    mean: Option<f64>,
    max: Option<f64>,
    count: u64,
    percentiles: BTreeMap<String, Option<f64>>,
}

/// Parses the one benchmark of the file.
///
/// # Errors
/// [`ParseError`] if there is none, or for anything that GuideLLM does not write.
pub(super) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let bytes = output.file(BENCHMARKS).ok_or_else(|| FILE.no_result(output, "benchmarks of GuideLLM"))?;
    let document: Document = FILE.json(bytes)?;
    let [benchmark] = &document.benchmarks[..] else {
        return Err(FILE.error(None, format!("{} benchmarks and not one", document.benchmarks.len())));
    };
    let metrics = &benchmark.metrics;
    Ok(ToolReport {
        version: Some(document.metadata.guidellm_version),
        streams: Some(streams(metrics)),
        notes: notes(metrics),
        ..ToolReport::from_claims(claims(metrics))
    })
}

/// Latencies of whole requests are in seconds, over those that succeeded.
fn claims(metrics: &Metrics) -> Claims {
    let (totals, times) = (&metrics.request_totals, metrics.request_latency.successful.as_ref());
    let time = |of: fn(&Summary) -> Option<f64>| units::nanos(of(times?)?, 1e9).map(|time| time.0);
    Claims {
        quantiles: quantiles(times, 1e9),
        mean_ns: time(|times| times.mean),
        max_ns: time(|times| times.max),
        measured: Some(totals.successful),
        requests: Some(totals.total),
        failed: Some(totals.incomplete.saturating_add(totals.errored)),
        rate_per_second: metrics.requests_per_second.successful.as_ref().and_then(|rate| rate.mean),
        ..Claims::silent(LatencyFrom::Send)
    }
}

fn streams(metrics: &Metrics) -> StreamClaims {
    let (first, gaps) = (&metrics.time_to_first_token_ms.successful, &metrics.inter_token_latency_ms.successful);
    let max = |times: &Option<Summary>| millis(times.as_ref().and_then(|times| times.max));
    StreamClaims {
        first: quantiles(first.as_ref(), 1e6),
        first_max_ns: max(first),
        measured: Some(first.as_ref().map_or(0, |times| times.count)),
        gaps: quantiles(gaps.as_ref(), 1e6),
        gap_max_ns: max(gaps),
        gap_of: GapOf::Answer,
    }
}

fn quantiles(times: Option<&Summary>, unit_ns: f64) -> Vec<ClaimedQuantile> {
    let Some(times) = times.filter(|times| times.count > 0) else { return Vec::new() };
    let at = |name: &str| times.percentiles.get(name).copied().flatten();
    PERCENTILES.into_iter().filter_map(|(name, q)| printed(q, at(name), unit_ns)).collect()
}

fn notes(metrics: &Metrics) -> Vec<String> {
    let mut notes = Vec::new();
    if metrics.request_totals.incomplete > 0 {
        notes.push(format!(
            "it cancelled {} requests that were under way at its end",
            metrics.request_totals.incomplete
        ));
    }
    let late = metrics.request_dispatch_delay.as_ref().and_then(|delay| delay.successful.as_ref()?.max);
    if let Some(seconds) = late.filter(|seconds| *seconds > 0.0) {
        notes.push(format!(
            "it sent the latest request {:.1} ms after it was due, which is in no latency",
            seconds * 1e3
        ));
    }
    notes
}
