//! Parser of fortio's output: its result (`-json`) and its access log (`-access-log-file`), which has a line for each
//! request, in order of completion.

use std::collections::BTreeMap;

use serde::Deserialize;
use truetail_model::record::{GrpcStatus, Histogram, Outcome};
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use crate::failure_classifier::FailureClassifier;
use crate::grpc_go::outcome_of_name;
use crate::output_reader::{OutputReader, numbered_lines, shortened};
use crate::{ParseError, ReportedRequest, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "fortio";
pub(super) const TESTED: &str = "1.68.2";
pub(super) const RESULT: &str = "result.json";
pub(super) const LOG: &str = "access.jsonl";
/// `details` of calls that succeeded: statuses of the health service, of which `Ping` has the first.
const ANSWERED_CALLS: [&str; 4] = ["SERVING", "NOT_SERVING", "SERVICE_UNKNOWN", "UNKNOWN"];

/// fortio's result.
#[derive(Clone, Debug)]
pub struct FortioResult {
    /// Its figures.
    pub claims: Claims,
    /// All latencies, each counted at the end of its bucket, like percentiles of HdrHistogram; `None` without any.
    pub histogram: Option<Histogram>,
    /// Threads (`-c`), of which each waits for its answer.
    pub threads: u32,
    /// The rate (`-qps`); `None` if there was no limit.
    pub rate_per_second: Option<f64>,
    /// Version of fortio.
    pub version: Option<String>,
    /// Width of a bucket of the histogram (`-r`) in nanoseconds.
    pub bucket_ns: u64,
}

/// A line of the access log.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FortioCall {
    /// The request, with its start since 1970.
    pub request: ReportedRequest,
    /// Number of the thread.
    pub thread: u32,
    /// fortio counts it as a success.
    pub ok: bool,
}

/// Parses the access log and the result (of `-json -` on standard output), or either. Fails if they count different
/// requests.
pub(super) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let stdout = OutputReader::stdout(NAME, TESTED);
    let log = output.file(LOG).filter(|bytes| !bytes.is_empty());
    let log = log.map(|bytes| access_log(stdout.file(LOG), bytes)).transpose()?;
    let printed = Some(output.stdout.as_slice()).filter(|text| text.trim_ascii_start().starts_with(b"{"));
    let file = output.file(RESULT).map(|bytes| (stdout.file(RESULT), bytes));
    let result = file.or(printed.map(|bytes| (stdout, bytes)));
    let result = result.map(|(reader, bytes)| result_of(reader, bytes)).transpose()?;
    let report = match (log, result) {
        (Some(report), None) => report,
        (None, Some(FortioResult { claims, histogram, version, .. })) => {
            ToolReport { histogram, version, ..ToolReport::from_claims(claims) }
        }
        (Some(report), Some(FortioResult { claims, version, .. })) => {
            let rows = report.requests.len() as u64;
            let requests = claims.requests.unwrap_or_default();
            if rows != requests {
                let what = format!("lines of {rows} requests, but the result counts {requests}");
                return Err(stdout.file(LOG).error(None, what));
            }
            ToolReport { claims, version, ..report }
        }
        (None, None) => return Err(stdout.no_result(output, "access log and no result of fortio")),
    };
    Ok(report.with_computed_quantiles())
}

fn access_log(reader: OutputReader, bytes: &[u8]) -> Result<ToolReport, ParseError> {
    reader.check_last_line(bytes)?;
    let mut failures = FailureClassifier::default();
    let mut requests = Vec::new();
    let mut failed = 0;
    for (number, line) in numbered_lines(&String::from_utf8_lossy(bytes)) {
        let call = log_line(line, &mut failures).map_err(|why| reader.error(number, why))?;
        failed += u64::from(!call.ok);
        requests.push(call.request);
    }
    Ok(ToolReport { notes: failures.notes(), ..ToolReport::from_requests(LatencyFrom::Send, requests, failed) })
}

/// Times of the access log.
#[derive(Deserialize)]
struct Entry {
    latency: f64,
    timestamp: u64,
    thread: u32,
    ok: bool,
}

/// Parses a line of the access log. Its last member, `details`, is a string of Go, with escapes that JSON does not
/// have. The error says what is wrong with the line.
pub(crate) fn log_line(line: &str, failures: &mut FailureClassifier) -> Result<FortioCall, String> {
    let parts = line.trim_end().split_once(",\"details\":\"");
    let parts = parts.and_then(|(entry, details)| Some((entry, details.strip_suffix("\"}")?)));
    let (entry, details) = parts.ok_or_else(|| format!("no details at the end of '{}'", shortened(line)))?;
    let entry: Entry = serde_json::from_str(&format!("{entry}}}")).map_err(|error| error.to_string())?;
    let latency = units::nanos(entry.latency, 1e9).ok_or_else(|| format!("a latency of {} s", entry.latency))?;
    let request = ReportedRequest { start_ns: Some(entry.timestamp), latency, outcome: outcome(details, failures) };
    Ok(FortioCall { request, thread: entry.thread, ok: entry.ok })
}

/// Returns the outcome by `details`: the status of HTTP, -1 without an answer; for calls of gRPC the status of the
/// health service, or the error.
fn outcome(details: &str, failures: &mut FailureClassifier) -> Outcome {
    if let Ok(status @ 1..) = details.parse::<u16>() {
        return Outcome::response(status);
    }
    if ANSWERED_CALLS.contains(&details) {
        return Outcome::response(GrpcStatus::OK.recorded());
    }
    let name = details.strip_prefix("rpc error: code = ").and_then(|rest| rest.split_once(" desc = "));
    match name {
        Some((name, _)) => outcome_of_name(name, details, failures),
        None => failures.classify(details),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    #[serde(rename = "RequestedQPS")]
    requested_qps: String,
    #[serde(rename = "ActualQPS")]
    actual_qps: f64,
    num_threads: u32,
    version: Option<String>,
    duration_histogram: Distribution,
    errors_duration_histogram: Option<Distribution>,
    #[serde(default)]
    ret_codes: BTreeMap<String, u64>,
    resolution: Option<f64>,
}

/// Times in seconds.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Distribution {
    count: u64,
    min: f64,
    max: f64,
    sum: f64,
    avg: f64,
    data: Option<Vec<Bucket>>,
    percentiles: Option<Vec<Percentile>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Bucket {
    end: f64,
    count: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Percentile {
    percentile: f64,
    value: f64,
}

/// Parses the result.
pub(crate) fn result_file(bytes: &[u8]) -> Result<FortioResult, ParseError> {
    result_of(OutputReader::stdout(NAME, TESTED).file(RESULT), bytes)
}

fn result_of(reader: OutputReader, bytes: &[u8]) -> Result<FortioResult, ParseError> {
    let document: Document = reader.json(bytes)?;
    let times = &document.duration_histogram;
    let some = |seconds| units::nanos(seconds, 1e9).map(|time| time.0).filter(|_| times.count > 0);
    let printed = times.percentiles.iter().flatten().filter_map(|one| {
        let q = units::quantile(&one.percentile.to_string())?;
        Some(ClaimedQuantile { q, value_ns: some(one.value)?, printed: true })
    });
    let mut quantiles: Vec<_> = printed.collect();
    quantiles.sort_by(|a, b| a.q.total_cmp(&b.q));
    quantiles.dedup_by(|a, b| a.q == b.q);
    let claims = Claims {
        quantiles,
        mean_ns: some(times.avg),
        max_ns: some(times.max),
        measured: Some(times.count),
        requests: Some(times.count),
        failed: failed(&document),
        rate_per_second: Some(document.actual_qps).filter(|rate| rate.is_finite()),
        ..Claims::silent(LatencyFrom::Send)
    };
    // `max` is not a rate.
    let rate = document.requested_qps.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    Ok(FortioResult {
        claims,
        histogram: histogram(times),
        threads: document.num_threads,
        rate_per_second: rate,
        bucket_ns: document.resolution.and_then(|width| units::nanos(width, 1e9)).map_or(1_000_000, |width| width.0),
        version: document.version,
    })
}

/// Returns the count of the histogram of errors, or else of every code but those of success.
fn failed(document: &Document) -> Option<u64> {
    if let Some(errors) = &document.errors_duration_histogram {
        return Some(errors.count);
    }
    let failed = document.ret_codes.iter().filter(|(code, _)| !matches!(code.as_str(), "200" | "SERVING"));
    (!document.ret_codes.is_empty()).then(|| failed.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count)))
}

fn histogram(times: &Distribution) -> Option<Histogram> {
    let mut histogram = Histogram::new();
    for Bucket { end, count } in times.data.iter().flatten() {
        histogram.count().checked_add(*count)?;
        histogram.record_n(units::nanos(*end, 1e9)?, *count);
    }
    let min = units::nanos(times.min, 1e9)?;
    let max = units::nanos(times.max, 1e9)?;
    histogram.restore_exact(u128::from(units::nanos(times.sum, 1e9)?.0), min, max);
    Some(histogram).filter(|histogram| !histogram.is_empty())
}
