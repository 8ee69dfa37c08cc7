//! Parser of Locust's output: its statistics, with a histogram of rounded latencies, and a row for each request, which
//! our own listener writes.

use std::collections::BTreeMap;

use serde::Deserialize;
use truetail_model::record::{Outcome, rank_of};
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use crate::failure_classifier::FailureClassifier;
use crate::locate::version_in;
use crate::output_reader::OutputReader;
use crate::{ParseError, ReportedRequest, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "locust";
pub(super) const TESTED: &str = "2.47.0";
pub(super) const SAMPLES: &str = "samples.csv";
pub(super) const RESULT: &str = "result.json";
const ROWS: OutputReader = OutputReader::stdout(NAME, TESTED).file(SAMPLES);
const STATISTICS: OutputReader = ROWS.file(RESULT);

/// Parses statistics and rows. The quantiles are from Locust's own histogram. Fails if the statistics are missing, or
/// if the numbers of requests differ.
pub(super) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let bytes = output.file(RESULT).ok_or_else(|| STATISTICS.no_result(output, "statistics of Locust"))?;
    let (claims, _) = statistics(bytes)?;
    let mut report = ToolReport::from_claims(claims);
    if let Some(bytes) = output.file(SAMPLES) {
        (report.requests, report.notes) = samples(bytes)?;
        let rows = report.requests.len() as u64;
        let summed = report.claims.requests.unwrap_or_default();
        if rows != summed {
            return Err(ROWS.error(rows + 1, format!("{rows} rows, but the statistics count {summed}")));
        }
    }
    report.version = version(&output.stderr);
    Ok(report)
}

pub(super) fn version(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let rest = text.lines().find_map(|line| Some(line.split_once("Starting Locust ")?.1.to_owned()))?;
    Some(version_in(&rest))
}

#[derive(Deserialize)]
struct Row {
    start_time: String,
    response_time_ms: String,
    status: u16,
    exception: String,
}

fn samples(bytes: &[u8]) -> Result<(Vec<ReportedRequest>, Vec<String>), ParseError> {
    let mut requests = Vec::new();
    let mut failures = FailureClassifier::default();
    ROWS.each_csv_row(bytes, |line, row: Row| {
        let start = ROWS.require(line, "start in seconds", units::seconds(&row.start_time))?;
        let latency = ROWS.require(line, "time in milliseconds", units::millis(&row.response_time_ms))?;
        let outcome = match row.status {
            0 => failures.classify(&row.exception),
            status => Outcome::response(status),
        };
        requests.push(ReportedRequest { start_ns: Some(start.0), latency, outcome });
        Ok(())
    })?;
    Ok((requests, failures.notes()))
}

/// Statistics of one request name.
#[derive(Deserialize)]
struct RequestStats {
    num_requests: u64,
    num_failures: u64,
    total_response_time: f64,
    max_response_time: f64,
    /// Latency in milliseconds, rounded to two digits, and its count.
    response_times: BTreeMap<String, u64>,
}

/// Parses the statistics in JSON. Also returns the number of requests by latency in nanoseconds.
pub(crate) fn statistics(bytes: &[u8]) -> Result<(Claims, BTreeMap<u64, u64>), ParseError> {
    let entries: Vec<RequestStats> = STATISTICS.json(bytes)?;
    let sum = |of: fn(&RequestStats) -> u64| entries.iter().map(of).fold(0, u64::saturating_add);
    let requests = sum(|entry| entry.num_requests);
    let total_ms: f64 = entries.iter().map(|entry| entry.total_response_time).sum();
    let max_ms = entries.iter().map(|entry| entry.max_response_time).fold(0.0, f64::max);
    let some = |ms: f64| if requests > 0 { units::nanos(ms, 1e6).map(|time| time.0) } else { None };
    let counts = counts(&entries)?;
    let claims = Claims {
        quantiles: quantiles(&counts),
        mean_ns: some(total_ms / requests.max(1) as f64),
        max_ns: some(max_ms),
        measured: Some(requests),
        requests: Some(requests),
        failed: Some(sum(|entry| entry.num_failures)),
        ..Claims::silent(LatencyFrom::Send)
    };
    Ok((claims, counts))
}

fn counts(entries: &[RequestStats]) -> Result<BTreeMap<u64, u64>, ParseError> {
    let mut counts = BTreeMap::<u64, u64>::new();
    for (rounded_ms, count) in entries.iter().flat_map(|entry| &entry.response_times) {
        let time = STATISTICS.require(None, format_args!("time in '{rounded_ms}'"), units::millis(rounded_ms))?;
        let sum = counts.entry(time.0).or_default();
        *sum = sum.saturating_add(*count);
    }
    Ok(counts)
}

fn quantiles(counts: &BTreeMap<u64, u64>) -> Vec<ClaimedQuantile> {
    let all = counts.values().copied().fold(0, u64::saturating_add);
    let claimed = |q| Some(ClaimedQuantile { q, value_ns: at_rank(counts, rank_of(q, all))?, printed: false });
    [0.5, 0.9, 0.99, 0.999, 0.9999].into_iter().filter_map(claimed).collect()
}

/// Returns the smallest value whose cumulative count reaches `rank`.
fn at_rank(counts: &BTreeMap<u64, u64>, rank: u64) -> Option<u64> {
    let mut cumulative = 0u64;
    let mut reaches = |count: u64| {
        cumulative = cumulative.saturating_add(count);
        cumulative >= rank
    };
    counts.iter().find(|(_, count)| **count > 0 && reaches(**count)).map(|(value_ns, _)| *value_ns)
}
