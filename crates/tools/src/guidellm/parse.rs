//! Parser of GuideLLM's `benchmarks.json`: totals of the benchmark, and each request.

use serde::Deserialize;
use truetail_run::{GapMeaning, StreamClaims};

use super::metrics::{GuideLlmMetrics, Summary, successful};
use crate::model::millis;
use crate::output_reader::OutputReader;
use crate::{ParseError, ToolOutput, ToolReport};

pub(super) const NAME: &str = "guidellm";
pub(super) const TESTED: &str = "0.8.1";
pub(super) const BENCHMARKS: &str = "benchmarks.json";
const FILE: OutputReader = OutputReader::stdout(NAME, TESTED).file(BENCHMARKS);

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
    metrics: GuideLlmMetrics,
    requests: Option<Requests>,
}

/// All requests. Some are in no total, because they began after the measured range.
#[derive(Deserialize)]
struct Requests {
    incomplete: Option<Vec<Incomplete>>,
}

/// A cancelled request.
#[derive(Deserialize)]
struct Incomplete {
    /// `None` if it had not begun.
    request_start_time: Option<f64>,
}

impl Benchmark {
    /// Returns the number of listed requests that had begun and were cancelled; `None` without a list.
    fn listed_cancelled(&self) -> Option<u64> {
        let incomplete = self.requests.as_ref()?.incomplete.as_ref()?;
        Some(incomplete.iter().filter(|request| request.request_start_time.is_some()).count() as u64)
    }
}

/// Parses the only benchmark of the file. Fails unless there is exactly one.
pub(super) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let bytes = output.file(BENCHMARKS).ok_or_else(|| FILE.no_result(output, "benchmarks of GuideLLM"))?;
    let document: Document = FILE.json(bytes)?;
    let [benchmark] = &document.benchmarks[..] else {
        return Err(FILE.error(None, format!("{} benchmarks and not one", document.benchmarks.len())));
    };
    let metrics = &benchmark.metrics;
    if metrics.request_totals.is_none() {
        return Err(FILE.error(None, "no request_totals".to_owned()));
    }
    Ok(ToolReport {
        version: Some(document.metadata.guidellm_version),
        streams: Some(streams(metrics)),
        notes: notes(benchmark),
        ..ToolReport::from_claims(metrics.claims(benchmark.listed_cancelled().unwrap_or(0)))
    })
}

/// Returns the figures of streams. The summaries are missing if no request was answered.
fn streams(metrics: &GuideLlmMetrics) -> StreamClaims {
    let of = |times: Option<&Summary>| times.map_or(Vec::new(), |times| times.quantiles(1e6));
    let max = |times: Option<&Summary>| millis(times.and_then(|times| times.max));
    let first = successful(&metrics.time_to_first_token_ms);
    let gaps = successful(&metrics.inter_token_latency_ms);
    StreamClaims {
        first: of(first),
        first_max_ns: max(first),
        measured: first.map_or(Some(0), |first| first.count),
        gaps: of(gaps),
        gap_max_ns: max(gaps),
        gap_of: GapMeaning::Answer,
    }
}

fn notes(benchmark: &Benchmark) -> Vec<String> {
    let mut notes = Vec::new();
    let listed = benchmark.listed_cancelled();
    let cancelled = benchmark.metrics.cancelled(listed.unwrap_or(0));
    if cancelled > 0 {
        let at_least = if listed == Some(cancelled) { "" } else { "at least " };
        let requests = if cancelled == 1 { "request that was" } else { "requests that were" };
        notes.push(format!("it cancelled {at_least}{cancelled} {requests} under way at its end"));
    }
    let late = successful(&benchmark.metrics.request_dispatch_delay).and_then(|delay| delay.max);
    if let Some(seconds) = late.filter(|seconds| *seconds > 0.0) {
        notes.push(format!(
            "it sent the latest request {:.1} ms after it was due, which is in no latency",
            seconds * 1e3
        ));
    }
    notes
}
