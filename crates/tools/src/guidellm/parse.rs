//! GuideLLM's `benchmarks.json`: sums of the benchmark, and each request.

use serde::Deserialize;
use truetail_run::{GapOf, StreamClaims};

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
    if metrics.request_totals.is_none() {
        return Err(FILE.error(None, "no request_totals".to_owned()));
    }
    Ok(ToolReport {
        version: Some(document.metadata.guidellm_version),
        streams: Some(streams(metrics)),
        notes: notes(metrics),
        ..ToolReport::from_claims(metrics.claims())
    })
}

/// Without an answer it has no summary.
fn streams(metrics: &GuideLlmMetrics) -> StreamClaims {
    let of = |times: Option<&Summary>| times.map_or(Vec::new(), |times| times.quantiles(1e6));
    let max = |times: Option<&Summary>| millis(times.and_then(|times| times.max));
    let (first, gaps) = (successful(&metrics.time_to_first_token_ms), successful(&metrics.inter_token_latency_ms));
    StreamClaims {
        first: of(first),
        first_max_ns: max(first),
        measured: first.map_or(Some(0), |first| first.count),
        gaps: of(gaps),
        gap_max_ns: max(gaps),
        gap_of: GapOf::Answer,
    }
}

fn notes(metrics: &GuideLlmMetrics) -> Vec<String> {
    let mut notes = Vec::new();
    let cancelled = metrics.request_totals.map_or(0, |totals| totals.incomplete);
    if cancelled > 0 {
        notes.push(format!("it cancelled {cancelled} requests that were under way at its end"));
    }
    let late = successful(&metrics.request_dispatch_delay).and_then(|delay| delay.max);
    if let Some(seconds) = late.filter(|seconds| *seconds > 0.0) {
        notes.push(format!(
            "it sent the latest request {:.1} ms after it was due, which is in no latency",
            seconds * 1e3
        ));
    }
    notes
}
