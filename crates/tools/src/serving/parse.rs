//! Parser of the result that `vllm bench serve` and sglang's `bench_serving` append to a file: a line of JSON with a
//! summary and, if requested, single values. The tools share an origin, but have different names for the times of whole
//! answers.

use serde::Deserialize;
use truetail_run::{ClaimedQuantile, Claims, GapMeaning, LatencyFrom, StreamClaims};

use crate::model::{millis, printed};
use crate::output_reader::OutputReader;
use crate::python::without_python_numbers;
use crate::{ParseError, ToolOutput, ToolReport, units};

/// A result. The summary covers successful requests. Single values cover all requests, in order of sending.
#[derive(Deserialize)]
struct Document {
    completed: u64,
    request_throughput: Option<f64>,
    #[serde(flatten)]
    whole: WholeAnswers,
    #[serde(flatten)]
    streams: Streams,
    /// Error of each request; empty if it succeeded.
    errors: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct WholeAnswers {
    #[serde(alias = "mean_e2el_ms")]
    mean_e2e_latency_ms: Option<f64>,
    #[serde(alias = "median_e2el_ms")]
    median_e2e_latency_ms: Option<f64>,
    #[serde(alias = "p90_e2el_ms")]
    p90_e2e_latency_ms: Option<f64>,
    #[serde(alias = "p99_e2el_ms")]
    p99_e2e_latency_ms: Option<f64>,
}

#[derive(Deserialize)]
struct Streams {
    median_ttft_ms: Option<f64>,
    p99_ttft_ms: Option<f64>,
    median_itl_ms: Option<f64>,
    p95_itl_ms: Option<f64>,
    p99_itl_ms: Option<f64>,
    /// Seconds; 0 without a first token.
    #[serde(default)]
    ttfts: Vec<f64>,
    /// Seconds.
    #[serde(default)]
    itls: Vec<Vec<f64>>,
}

/// Parses the last result in `results` with the reader `file`. Fails if the result is missing.
pub(super) fn parse(output: &ToolOutput, file: OutputReader, results: &str) -> Result<ToolReport, ParseError> {
    let bytes = output.file(results).ok_or_else(|| file.no_result(output, "result of the benchmark"))?;
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let last = without_python_numbers(lines.next_back().unwrap_or_default());
    let document: Document = file.json(&last)?;
    Ok(ToolReport {
        streams: Some(streams(&document.streams, document.completed)),
        ..ToolReport::from_claims(claims(&document))
    })
}

fn claims(document: &Document) -> Claims {
    let failed = document.errors.as_ref().map(|errors| errors.iter().filter(|error| !error.is_empty()).count() as u64);
    let whole = &document.whole;
    let stated =
        [(0.5, whole.median_e2e_latency_ms), (0.9, whole.p90_e2e_latency_ms), (0.99, whole.p99_e2e_latency_ms)];
    Claims {
        quantiles: quantiles(&stated),
        mean_ns: millis(whole.mean_e2e_latency_ms),
        measured: Some(document.completed),
        requests: document.errors.as_ref().map(|errors| errors.len() as u64),
        failed,
        rate_per_second: document.request_throughput,
        ..Claims::silent(LatencyFrom::Send)
    }
}

fn streams(said: &Streams, completed: u64) -> StreamClaims {
    let of_first = [(0.5, said.median_ttft_ms), (0.99, said.p99_ttft_ms)];
    let of_gaps = [(0.5, said.median_itl_ms), (0.95, said.p95_itl_ms), (0.99, said.p99_itl_ms)];
    StreamClaims {
        first: quantiles(&of_first),
        first_max_ns: largest(said.ttfts.iter()),
        measured: Some(completed),
        gaps: quantiles(&of_gaps),
        gap_max_ns: largest(said.itls.iter().flatten()),
        gap_of: GapMeaning::Event,
    }
}

fn quantiles(stated: &[(f64, Option<f64>)]) -> Vec<ClaimedQuantile> {
    stated.iter().filter_map(|(q, value)| printed(*q, *value, 1e6)).collect()
}

/// Returns the largest of these times, in nanoseconds; `None` without any.
fn largest<'a>(seconds: impl Iterator<Item = &'a f64>) -> Option<u64> {
    seconds.filter_map(|seconds| units::nanos(*seconds, 1e9)).map(|time| time.0).max().filter(|most| *most > 0)
}
