//! The result that sglang's `bench_serving` adds to its output file: a line of JSON with a summary, and with
//! `--output-details` with single values.

use serde::Deserialize;
use truetail_run::{ClaimedQuantile, Claims, GapOf, LatencyFrom, StreamClaims};

use crate::model::{millis, printed};
use crate::output_reader::OutputReader;
use crate::{ParseError, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "sglang";
pub(super) const TESTED: &str = "0.5.9";
pub(super) const RESULTS: &str = "results.jsonl";
const FILE: OutputReader = OutputReader::stdout(NAME, TESTED).file(RESULTS);

/// Its summary is over requests that succeeded. Single values are those of all, in the order of sending.
#[derive(Deserialize)]
struct Document {
    completed: u64,
    request_throughput: Option<f64>,
    #[serde(flatten)]
    whole: WholeAnswers,
    #[serde(flatten)]
    streams: Streams,
    /// Empty where a request succeeded.
    errors: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct WholeAnswers {
    mean_e2e_latency_ms: Option<f64>,
    median_e2e_latency_ms: Option<f64>,
    p90_e2e_latency_ms: Option<f64>,
    p99_e2e_latency_ms: Option<f64>,
}

#[derive(Deserialize)]
struct Streams {
    median_ttft_ms: Option<f64>,
    p99_ttft_ms: Option<f64>,
    median_itl_ms: Option<f64>,
    p95_itl_ms: Option<f64>,
    p99_itl_ms: Option<f64>,
    /// In seconds; 0 where there was none.
    #[serde(default)]
    ttfts: Vec<f64>,
    /// In seconds.
    #[serde(default)]
    itls: Vec<Vec<f64>>,
}

/// Parses the last result.
///
/// # Errors
/// [`ParseError`] if there is none, or for anything that `bench_serving` does not write.
pub(super) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let bytes = output.file(RESULTS).ok_or_else(|| FILE.no_result(output, "result of bench_serving"))?;
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let document: Document = FILE.json(lines.next_back().unwrap_or_default())?;
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
        gap_of: GapOf::Event,
    }
}

fn quantiles(stated: &[(f64, Option<f64>)]) -> Vec<ClaimedQuantile> {
    stated.iter().filter_map(|(q, value)| printed(*q, *value, 1e6)).collect()
}

/// The largest of these seconds, in nanoseconds; `None` without any.
fn largest<'a>(seconds: impl Iterator<Item = &'a f64>) -> Option<u64> {
    seconds.filter_map(|seconds| units::nanos(*seconds, 1e9)).map(|time| time.0).max().filter(|most| *most > 0)
}
