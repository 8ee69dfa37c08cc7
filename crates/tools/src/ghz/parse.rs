//! Parser of ghz's output: JSON (`-O json` or `-O pretty`) with figures and the details of at most a million calls, or
//! CSV (`-O csv`) with a row for each of these calls. Both are in order of completion.
//!
//! The time stamp of a call is its end (`runner/stats_handler.go`). Percentiles, the fastest and the slowest call leave
//! out calls with an error, unless `--count-errors` is given. Count, mean and rate include them (`runner/reporter.go`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use truetail_model::record::Outcome;
use truetail_model::time::{NANOS_PER_SECOND, Nanos, days_since_1970};
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use crate::failure_classifier::FailureClassifier;
use crate::grpc_go::outcome_of_name;
use crate::output_reader::{OutputReader, numbered_lines};
use crate::{ParseError, ReportedRequest, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "ghz";
pub(super) const TESTED: &str = "0.121.0";
pub(super) const RESULT: &str = "result.json";
/// Header of the CSV.
const HEADER: &str = "duration (ms),status,error";
const SECONDS_PER_DAY: i64 = 86_400;

/// ghz's result, with the load that it was asked for.
#[derive(Clone, Debug)]
pub struct GhzResult {
    /// The figures and the calls.
    pub report: ToolReport,
    /// The highest number of workers (`-c`); `None` if calls do not wait for answers (`--async`).
    pub workers: Option<u32>,
    /// The rate (`--rps`), if there is one that does not change.
    pub rate_per_second: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    options: Options,
    count: u64,
    /// Nanoseconds, as all times except in the histogram.
    average: u64,
    slowest: u64,
    rps: f64,
    #[serde(default)]
    status_code_distribution: Option<BTreeMap<String, u64>>,
    #[serde(default)]
    latency_distribution: Option<Vec<Percentile>>,
    #[serde(borrow, default)]
    details: Option<Vec<Detail<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Options {
    #[serde(default)]
    rps: f64,
    #[serde(default)]
    load_schedule: String,
    #[serde(default)]
    concurrency: u32,
    #[serde(default)]
    concurrency_schedule: String,
    #[serde(default)]
    concurrency_start: u32,
    #[serde(default)]
    concurrency_end: u32,
    #[serde(default, rename = "async")]
    is_async: bool,
    #[serde(default, rename = "skipFirst")]
    skip_first: u64,
    #[serde(default)]
    count_errors: bool,
}

#[derive(Deserialize)]
struct Percentile {
    percentage: u32,
    latency: u64,
}

#[derive(Deserialize)]
struct Detail<'a> {
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    latency: u64,
    #[serde(borrow)]
    error: Cow<'a, str>,
    #[serde(borrow)]
    status: Cow<'a, str>,
}

/// Parses the file, or what a command line of the user prints.
pub(super) fn parse(tool: &'static str, output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let stdout = OutputReader::stdout(tool, TESTED);
    if let Some(bytes) = output.file(RESULT).filter(|bytes| !bytes.is_empty()) {
        return Ok(result(stdout.file(RESULT), bytes)?.report);
    }
    match output.stdout.trim_ascii_start() {
        [b'{', ..] => Ok(result(stdout, &output.stdout)?.report),
        text if text.starts_with(HEADER.as_bytes()) => csv(stdout, output),
        _ => Err(stdout.no_result(output, "result of ghz as JSON or CSV (-O json)")),
    }
}

/// Parses the JSON.
pub(crate) fn json_result(bytes: &[u8]) -> Result<GhzResult, ParseError> {
    result(OutputReader::stdout(NAME, TESTED), bytes)
}

fn result(reader: OutputReader, bytes: &[u8]) -> Result<GhzResult, ParseError> {
    let document: Document<'_> = reader.json(bytes)?;
    let mut failures = FailureClassifier::default();
    let mut requests = Vec::new();
    for detail in document.details.iter().flatten() {
        let end = reader.require(None, format_args!("time in '{}'", detail.timestamp), instant(&detail.timestamp))?;
        requests.push(ReportedRequest {
            start_ns: Some(end.saturating_sub(detail.latency)),
            latency: Nanos(detail.latency),
            outcome: outcome_of_name(&detail.status, &detail.error, &mut failures),
        });
    }
    let claims = reader_claims(reader, &document)?;
    let Options { rps, is_async, .. } = document.options;
    let notes = notes(&document, requests.len() as u64).into_iter().chain(failures.notes()).collect();
    let report = ToolReport { requests, notes, ..ToolReport::from_claims(claims) };
    // Computed quantiles include all calls.
    let has_all = report.claims.measured == Some(report.requests.len() as u64);
    Ok(GhzResult {
        report: if has_all { report.with_computed_quantiles() } else { report },
        workers: Some(workers(&document.options)).filter(|workers| *workers > 0 && !is_async),
        rate_per_second: Some(rps)
            .filter(|rps| rps.is_finite() && *rps > 0.0 && is_constant(&document.options.load_schedule)),
    })
}

fn reader_claims(reader: OutputReader, document: &Document<'_>) -> Result<Claims, ParseError> {
    let Document { count, average, slowest, rps, .. } = *document;
    let good = document.status_code_distribution.as_ref().map(|counts| counts.get("OK").copied().unwrap_or_default());
    let good = good.filter(|good| *good <= count);
    let measured = if document.options.count_errors { Some(count) } else { good };
    let has_times = slowest > 0;
    // ghz writes 0 for a percentile without a value.
    let printed = document.latency_distribution.iter().flatten().filter(|one| one.latency > 0);
    let quantiles = printed.map(|one| {
        let q = reader.require(None, "percentage below 100", units::quantile(&one.percentage.to_string()))?;
        Ok(ClaimedQuantile { q, value_ns: one.latency, printed: true })
    });
    Ok(Claims {
        quantiles: reader.check_ascending(quantiles.collect::<Result<_, _>>()?)?,
        mean_ns: Some(average).filter(|_| has_times),
        max_ns: Some(slowest).filter(|_| has_times),
        measured,
        requests: Some(count),
        failed: good.map(|good| count - good),
        rate_per_second: Some(rps).filter(|rps| rps.is_finite() && *rps >= 0.0),
        ..Claims::silent(LatencyFrom::Send)
    })
}

fn notes(document: &Document<'_>, details: u64) -> Option<String> {
    let Document { count, options: Options { skip_first, .. }, .. } = document;
    match details {
        _ if *skip_first > 0 => Some(format!("ghz left out its first {skip_first} calls (--skipFirst)")),
        _ if details < *count => Some(format!("ghz has details of {details} calls, and made {count}")),
        _ => None,
    }
}

fn is_constant(schedule: &str) -> bool {
    matches!(schedule, "" | "const")
}

fn workers(options: &Options) -> u32 {
    match is_constant(&options.concurrency_schedule) {
        true => options.concurrency,
        false => options.concurrency_start.max(options.concurrency_end),
    }
}

/// Parses the CSV, which has no starts.
fn csv(reader: OutputReader, output: &ToolOutput) -> Result<ToolReport, ParseError> {
    reader.check_last_line(&output.stdout)?;
    let mut failures = FailureClassifier::default();
    let mut requests = Vec::new();
    let text = output.text();
    for (line, row) in numbered_lines(&text).filter(|(_, row)| !row.trim().is_empty() && *row != HEADER) {
        requests.push(reader.require(line, "duration, status and error", csv_row(row, &mut failures))?);
    }
    let failed = requests.iter().filter(|request| request.outcome != Outcome::response(200)).count() as u64;
    let report = ToolReport::from_requests(LatencyFrom::Send, requests, failed);
    Ok(ToolReport { notes: failures.notes(), ..report }.with_computed_quantiles())
}

/// Parses a row of the CSV: the duration in milliseconds, the status, and the error, which is not quoted and may have
/// commas. `None` for other text.
pub(crate) fn csv_row(row: &str, failures: &mut FailureClassifier) -> Option<ReportedRequest> {
    let mut cells = row.splitn(3, ',');
    let latency = units::millis(cells.next()?)?;
    let status = cells.next()?;
    let error = cells.next()?;
    Some(ReportedRequest { start_ns: None, latency, outcome: outcome_of_name(status, error, failures) })
}

/// Returns the nanoseconds since 1970 of a time in RFC 3339: `2026-11-28T12:13:58.8123Z`, or with an offset such as
/// `+01:00` in place of `Z`.
fn instant(text: &str) -> Option<u64> {
    let (date, time) = text.split_once('T')?;
    let (year, rest) = date.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let days = days_since_1970(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)?;
    let zone = time.find(['Z', '+', '-'])?;
    let (clock, zone) = time.split_at(zone);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let is_fraction = fraction.len() <= 9 && fraction.bytes().all(|digit| digit.is_ascii_digit());
    let fraction_ns: u64 = format!("{fraction:0<9}").parse().ok().filter(|_| is_fraction)?;
    let seconds = days.checked_mul(SECONDS_PER_DAY)?.checked_add(clock_seconds(clock)?)?;
    let seconds = seconds.checked_sub(offset_seconds(zone)?)?;
    u64::try_from(seconds).ok()?.checked_mul(NANOS_PER_SECOND)?.checked_add(fraction_ns)
}

/// Parses `12:13:58`, or `01:00` of an offset, as seconds.
fn clock_seconds(text: &str) -> Option<i64> {
    let mut parts = text.split(':').map(|part| part.parse::<u8>().ok().filter(|part| *part <= 60));
    let hours = parts.next()??;
    let minutes = parts.next()??;
    let seconds = parts.next().unwrap_or(Some(0))?;
    parts.next().is_none().then_some(i64::from(hours) * 3_600 + i64::from(minutes) * 60 + i64::from(seconds))
}

fn offset_seconds(zone: &str) -> Option<i64> {
    match zone.split_at_checked(1)? {
        ("Z", "") => Some(0),
        ("+", offset) => clock_seconds(offset),
        ("-", offset) => clock_seconds(offset).map(|seconds| -seconds),
        _ => None,
    }
}
