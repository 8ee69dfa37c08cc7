//! Parser of k6's output: about ten rows of samples for each request, one for each metric, and a summary.
//!
//! A call of gRPC has one row, `grpc_req_duration`, and none if it meets its deadline. k6 does not count failed calls.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::{Map, Value};
use truetail_model::record::{Cause, GrpcStatus, Outcome};
use truetail_model::time::Nanos;
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use crate::failure_classifier::FailureClassifier;
use crate::grpc_go;
use crate::output_reader::OutputReader;
use crate::{ParseError, ReportedRequest, ToolOutput, ToolReport, units};

pub(super) const TESTED: &str = "1.8.1";
pub(super) const SAMPLES: &str = "samples.csv";
pub(super) const SUMMARY: &str = "summary.json";
/// Counter of the script: iterations whose user could not connect. Their call was not made.
pub(super) const UNCONNECTED: &str = "truetail_unconnected";
/// Counter of the script: calls with the status UNAVAILABLE, each with the text of its error.
pub(super) const UNAVAILABLE: &str = "truetail_unavailable";
/// Trend of the script: milliseconds of calls with the status DEADLINE_EXCEEDED. k6 has a sample of them only if the
/// server sent the status.
pub(super) const TIMED_OUT: &str = "truetail_timed_out";
const REQUESTS: &str = "http_reqs";
const REQUEST_DURATION: &str = "http_req_duration";
const CALL_DURATION: &str = "grpc_req_duration";

/// Parses the samples and the summary of `tool`, or either. Fails if they count different requests.
pub(super) fn parse(tool: &'static str, output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let stdout = OutputReader::stdout(tool, TESTED);
    let samples = output.file(SAMPLES).map(|bytes| samples(stdout.file(SAMPLES), bytes)).transpose()?;
    let summary = output.file(SUMMARY).map(|bytes| summary(stdout.file(SUMMARY), bytes)).transpose()?;
    let report = match (samples, summary) {
        (Some(report), None) => report,
        (None, Some(claims)) => ToolReport::from_claims(claims),
        (Some(report), Some(claims)) => joined(stdout.file(SAMPLES), report, claims)?,
        (None, None) => return Err(stdout.no_result(output, "samples and no summary of k6")),
    };
    // k6's figures leave out calls without a sample.
    let has_all = report.claims.measured == Some(report.requests.len() as u64);
    Ok(if has_all { report.with_computed_quantiles() } else { report })
}

fn joined(reader: OutputReader, report: ToolReport, claims: Claims) -> Result<ToolReport, ParseError> {
    let rows = report.claims.measured.unwrap_or_default();
    let requests = claims.measured.unwrap_or(rows);
    if rows != requests {
        return Err(reader.error(None, format!("samples of {rows} requests, but the summary counts {requests}")));
    }
    let claims = Claims { requests: claims.requests.or(report.claims.requests), ..claims };
    Ok(ToolReport { claims, ..report })
}

#[derive(Deserialize)]
struct Row {
    metric_name: String,
    timestamp: String,
    metric_value: f64,
    #[serde(default)]
    status: Option<u16>,
    #[serde(default)]
    error_code: Option<u16>,
    #[serde(default)]
    error: Option<String>,
    /// Tags that are not part of a time series, such as `vu=3`.
    #[serde(default)]
    metadata: Option<String>,
}

fn samples(reader: OutputReader, bytes: &[u8]) -> Result<ToolReport, ParseError> {
    let mut samples = Samples::default();
    let mut last = 0;
    reader.each_csv_row(bytes, |line, row| {
        last = line;
        samples.take(reader, line, row)
    })?;
    if samples.begun.is_some() {
        return Err(reader.error(last, "a request without a duration; the file was cut off"));
    }
    let Samples { requests, calls, without_sample, dropped, failures, .. } = samples;
    let (requests, without_sample) = if requests.is_empty() { (calls, without_sample) } else { (requests, 0) };
    let claims = Claims {
        measured: Some(requests.len() as u64 - without_sample),
        requests: Some(requests.len() as u64),
        dropped: (dropped > 0).then_some(dropped),
        ..Claims::silent(LatencyFrom::Send)
    };
    Ok(ToolReport { requests, notes: failures.notes(), ..ToolReport::from_claims(claims) })
}

/// The samples of a run. The rows of a request are adjacent: `http_reqs` first, then `http_req_duration`.
#[derive(Default)]
struct Samples {
    requests: Vec<ReportedRequest>,
    begun: Option<Row>,
    /// Calls of gRPC, also without a sample of k6: the user could not connect, or the call met its deadline.
    calls: Vec<ReportedRequest>,
    without_sample: u64,
    /// The last sample of each virtual user, as an index of `calls`, until a metric of the script explains it.
    last_calls: HashMap<String, usize>,
    dropped: u64,
    failures: FailureClassifier,
}

impl Samples {
    fn take(&mut self, reader: OutputReader, line: u64, row: Row) -> Result<(), ParseError> {
        match row.metric_name.as_str() {
            REQUESTS if self.begun.is_some() => {
                return Err(reader.error(line, "a request starts before the duration of the last one"));
            }
            REQUESTS => self.begun = Some(row),
            REQUEST_DURATION => {
                let begun = self.begun.take().filter(|begun| begun.timestamp == row.timestamp);
                let begun = reader.require(line, "row http_reqs of this request before its duration", begun)?;
                let outcome = self.outcome(&begun);
                self.requests.push(request(reader, line, &begun, row.metric_value, outcome)?);
            }
            CALL_DURATION => {
                let outcome = call_outcome(row.status.unwrap_or(0).into());
                self.last_calls.insert(row.metadata.clone().unwrap_or_default(), self.calls.len());
                self.calls.push(request(reader, line, &row, row.metric_value, outcome)?);
            }
            UNAVAILABLE => {
                let call = self.last_calls.remove(row.metadata.as_deref().unwrap_or_default());
                let call = reader.require(line, "call of this user before its error", call)?;
                let text = row.error.unwrap_or_default();
                self.calls[call].outcome = grpc_go::outcome(GrpcStatus::UNAVAILABLE, &text, &mut self.failures);
            }
            UNCONNECTED => {
                let outcome = self.failures.classify(row.error.as_deref().unwrap_or_default());
                self.without_sample += 1;
                self.calls.push(request(reader, line, &row, 0.0, outcome)?);
            }
            TIMED_OUT => {
                let sample = self.last_calls.remove(row.metadata.as_deref().unwrap_or_default());
                if sample.is_none_or(|call| self.calls[call].outcome != Outcome::TimedOut) {
                    self.without_sample += 1;
                    self.calls.push(request(reader, line, &row, row.metric_value, Outcome::TimedOut)?);
                }
            }
            "dropped_iterations" => self.dropped = self.dropped.saturating_add(row.metric_value as u64),
            _ => {}
        }
        Ok(())
    }

    fn outcome(&mut self, row: &Row) -> Outcome {
        let code = u64::from(row.error_code.unwrap_or(0));
        let known = outcome(row.status.unwrap_or(0).into(), code);
        known.unwrap_or_else(|| self.failures.unknown(&format!("error code {code}")))
    }
}

/// Converts a request. k6's timestamp is the end of the request, and its duration starts after the connect.
fn request(
    reader: OutputReader,
    line: u64,
    row: &Row,
    millis: f64,
    outcome: Outcome,
) -> Result<ReportedRequest, ParseError> {
    let latency = reader.require(line, "duration in milliseconds", units::nanos(millis, 1e6))?;
    let end_ns = epoch_ns(reader, line, &row.timestamp)?;
    let start_ns = end_ns.map(|end_ns| end_ns.saturating_sub(latency.0));
    Ok(ReportedRequest { start_ns, latency, outcome })
}

/// Returns the outcome of a request with this status and error code, 0 without one; `None` for an unknown code. k6's
/// documentation lists the codes.
pub(crate) fn outcome(status: u64, error_code: u64) -> Option<Outcome> {
    Some(match (status, error_code) {
        (1..=999, _) => Outcome::response(status as u16),
        (_, 1050 | 1211) => Outcome::TimedOut,
        (_, 1212) => Outcome::ConnectFailed(Cause::Refused),
        (_, 1010..=1020 | 1100..=1199 | 1210..=1219) => Outcome::ConnectFailed(Cause::ConnectOther),
        (_, 1300..=1399) => Outcome::ConnectFailed(Cause::Tls),
        (_, 1220) => Outcome::Reset(Cause::ResetByPeer),
        _ => return None,
    })
}

/// Returns the outcome of a call with this status. Without the text of the error, UNAVAILABLE counts as an answer.
pub(crate) fn call_outcome(status: u64) -> Outcome {
    grpc_go::outcome(GrpcStatus::from_code(status), "", &mut FailureClassifier::default())
}

/// Parses a time since 1970. Its digits determine the unit: seconds (too coarse: `None`), milli-, micro- or
/// nanoseconds.
fn epoch_ns(reader: OutputReader, line: u64, text: &str) -> Result<Option<u64>, ParseError> {
    let per_unit = match text.len() {
        10 => return reader.number::<u64>(line, text).map(|_| None),
        13 => 1_000_000,
        16 => 1_000,
        19 => 1,
        _ => {
            let what = format!("'{text}' is not a Unix time; set K6_CSV_TIME_FORMAT=unix_nano");
            return Err(reader.error(line, what));
        }
    };
    let ns = reader.number::<u64>(line, text)?.checked_mul(per_unit).map(Some);
    reader.require(line, "time that fits", ns)
}

#[derive(Deserialize)]
struct Summary {
    metrics: BTreeMap<String, Value>,
}

impl Summary {
    /// Returns the figures of a metric. The data of `handleSummary` has them under `values`; `--summary-export` does
    /// not.
    fn metric(&self, metric: &str) -> Option<&Map<String, Value>> {
        let metric = self.metrics.get(metric)?;
        metric.get("values").unwrap_or(metric).as_object()
    }

    fn number(&self, metric: &str, key: &str) -> Option<f64> {
        self.metric(metric)?.get(key)?.as_f64()
    }

    fn count(&self, metric: &str, key: &str) -> Option<u64> {
        self.metric(metric)?.get(key)?.as_u64()
    }

    fn nanos(&self, metric: &str, key: &str) -> Option<Nanos> {
        units::nanos(self.number(metric, key)?, 1e6)
    }
}

fn summary(reader: OutputReader, bytes: &[u8]) -> Result<Claims, ParseError> {
    Ok(claims(&reader.json(bytes)?))
}

/// Parses a summary. Returns its figures and the maximum number of virtual users.
pub(crate) fn summary_file(bytes: &[u8]) -> Result<(Claims, Option<u64>), ParseError> {
    let summary: Summary = OutputReader::stdout("k6", TESTED).file(SUMMARY).json(bytes)?;
    Ok((claims(&summary), summary.count("vus_max", "max")))
}

/// Returns the figures. `http_req_failed` is a rate metric: its `passes` are the failed requests.
fn claims(summary: &Summary) -> Claims {
    let requests = summary.count(REQUESTS, "count").unwrap_or(0);
    if requests == 0 && [CALL_DURATION, UNCONNECTED, TIMED_OUT].iter().any(|metric| summary.metric(metric).is_some()) {
        return claims_of_calls(summary);
    }
    Claims {
        requests: Some(requests),
        failed: summary.count("http_req_failed", "passes"),
        rate_per_second: summary.number(REQUESTS, "rate"),
        ..claimed_times(summary, REQUEST_DURATION, Some(requests))
    }
}

/// Returns the figures of calls of gRPC. The number of measured calls is one of the statistics, if the script asks for
/// it. k6 states neither the number of all calls nor their rate.
fn claims_of_calls(summary: &Summary) -> Claims {
    let measured = match summary.metric(CALL_DURATION) {
        Some(_) => summary.count(CALL_DURATION, "count"),
        None => Some(0),
    };
    claimed_times(summary, CALL_DURATION, measured)
}

/// Returns the statistics of a metric with this number of values, if it is known.
fn claimed_times(summary: &Summary, metric: &str, measured: Option<u64>) -> Claims {
    let has_values = measured != Some(0);
    let some = |key| summary.nanos(metric, key).map(|time| time.0).filter(|_| has_values);
    Claims {
        quantiles: if has_values { quantiles(summary, metric) } else { Vec::new() },
        mean_ns: some("avg"),
        max_ns: some("max"),
        measured,
        dropped: summary.count("dropped_iterations", "count"),
        ..Claims::silent(LatencyFrom::Send)
    }
}

/// Returns the quantiles, such as `med` and `p(99.9)`.
fn quantiles(summary: &Summary, metric: &str) -> Vec<ClaimedQuantile> {
    let keys = summary.metric(metric).into_iter().flat_map(Map::keys);
    let claimed = keys.filter_map(|key| {
        let percent = if key == "med" { "50" } else { key.strip_prefix("p(")?.strip_suffix(')')? };
        Some(ClaimedQuantile { q: units::quantile(percent)?, value_ns: summary.nanos(metric, key)?.0, printed: true })
    });
    let mut quantiles: Vec<_> = claimed.collect();
    quantiles.sort_by(|a, b| a.q.total_cmp(&b.q));
    quantiles.dedup_by(|a, b| a.q == b.q);
    quantiles
}
