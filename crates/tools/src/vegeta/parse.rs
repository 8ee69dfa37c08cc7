//! Parser of Vegeta's output, decoded by Vegeta: a row for each request, including failed ones, in order of completion,
//! and its report. The quantiles of the report come from a sketch, which interpolates between measured values.

use serde::Deserialize;
use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use crate::failure_classifier::FailureClassifier;
use crate::output_reader::OutputReader;
use crate::{LoadSpec, ParseError, ReportedRequest, ToolOutput, ToolReport};

pub(super) const NAME: &str = "vegeta";
pub(super) const TESTED: &str = "12.13.0";
pub(super) const RESULTS: &str = "results.csv";
pub(super) const REPORT: &str = "report.json";
const ROWS: OutputReader = OutputReader::stdout(NAME, TESTED).file(RESULTS);
const SUMMARY: OutputReader = ROWS.file(REPORT);

/// Columns: start in nanoseconds since 1970, status or 0, latency in nanoseconds, bytes out and in, error, body,
/// attack, sequence number, method, URL, headers.
type Row = (u64, u16, u64, u64, u64, String, String, String, u64, String, String, String);

/// Parses the rows, and the report if present. Fails if there are no rows, or if the report counts other requests.
pub(super) fn parse(output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError> {
    let rows = output.file(RESULTS).filter(|bytes| !bytes.is_empty());
    let mut report = results(rows.ok_or_else(|| ROWS.no_result(output, "results of vegeta"))?)?;
    let rows = report.requests.len() as u64;
    report.notes.extend(load.shortfall("Vegeta", rows));
    if let Some(bytes) = output.file(REPORT) {
        report.claims = claims(&SUMMARY.json(bytes)?);
        if report.claims.requests != Some(rows) {
            return Err(ROWS.error(rows, format!("{rows} rows, but the report counts {:?}", report.claims.requests)));
        }
    }
    Ok(report.with_computed_quantiles())
}

fn results(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    let mut requests = Vec::new();
    let mut failures = FailureClassifier::default();
    ROWS.each_headerless_row(bytes, |_, (start_ns, status, latency_ns, _, _, error, ..): Row| {
        let outcome = if status > 0 { Outcome::response(status) } else { failures.classify(&error) };
        requests.push(ReportedRequest { start_ns: Some(start_ns), latency: Nanos(latency_ns), outcome });
        Ok(())
    })?;
    let failed = requests.iter().filter(|request| !succeeded(request)).count() as u64;
    Ok(ToolReport { notes: failures.notes(), ..ToolReport::from_requests(LatencyFrom::Send, requests, failed) })
}

/// Returns true if the request succeeded by Vegeta's definition.
fn succeeded(request: &ReportedRequest) -> bool {
    request.outcome.status().is_some_and(|status| (200..400).contains(&status))
}

/// Parses the output of `vegeta report -type=json`.
pub(crate) fn report_file(bytes: &[u8]) -> Result<Claims, ParseError> {
    Ok(claims(&SUMMARY.json(bytes)?))
}

/// The output of `vegeta report -type=json`.
#[derive(Deserialize)]
struct Summary {
    latencies: Latencies,
    requests: u64,
    rate: f64,
    success: f64,
}

/// Latencies in nanoseconds.
#[derive(Deserialize)]
struct Latencies {
    mean: u64,
    #[serde(rename = "50th")]
    p50: u64,
    #[serde(rename = "90th")]
    p90: u64,
    #[serde(rename = "95th")]
    p95: u64,
    #[serde(rename = "99th")]
    p99: u64,
    max: u64,
}

fn claims(summary: &Summary) -> Claims {
    let Summary { latencies, requests, rate, success } = summary;
    let some = |ns| Some(ns).filter(|_| *requests > 0);
    let quantiles = [(0.5, latencies.p50), (0.9, latencies.p90), (0.95, latencies.p95), (0.99, latencies.p99)];
    let printed = quantiles.map(|(q, value_ns)| ClaimedQuantile { q, value_ns, printed: true });
    let failed = (*requests as f64 * (1.0 - success.clamp(0.0, 1.0))).round() as u64;
    Claims {
        quantiles: if *requests > 0 { printed.to_vec() } else { Vec::new() },
        mean_ns: some(latencies.mean),
        max_ns: some(latencies.max),
        measured: Some(*requests),
        requests: Some(*requests),
        failed: Some(failed),
        rate_per_second: Some(*rate),
        ..Claims::silent(LatencyFrom::Send)
    }
}
