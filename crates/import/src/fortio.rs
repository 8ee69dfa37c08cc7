//! fortio's result (`-json`) and its access log (`-access-log-file`).

use std::collections::BTreeMap;

use serde::Deserialize;
use truetail_model::record::{Histogram, Outcome};
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::{
    Claims, ForeignClock, ForeignLoad, ForeignRequest, ForeignRun, ForeignStarts, LatencyFrom, UnusedRows,
};
use truetail_tools::{FailureClassifier, units};

use crate::whole::file::{WholeFile, leave_out, run};
use crate::whole::json;
use crate::whole::rows::{Row, each_row};
use crate::{FormatInfo, ImportError, RequestSink};

pub(crate) static JSON: WholeFile = WholeFile {
    info: &FormatInfo { name: "fortio-json", about: "the result of 'fortio load -json'", tool: Some("fortio") },
    model: Some(LoadModelKind::Closed),
    likeness: |excerpt| json::has_keys(excerpt, &["RunType", "RequestedQPS", "DurationHistogram", "NumThreads"]),
    parse: result,
};

pub(crate) static LOG: WholeFile = WholeFile {
    info: &FormatInfo { name: "fortio-log", about: "the file of 'fortio load -access-log-file'", tool: Some("fortio") },
    model: Some(LoadModelKind::Closed),
    likeness: |excerpt| json::has_keys(excerpt, &["latency", "timestamp", "thread", "iter", "ok"]),
    parse: log,
};

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

fn result(bytes: &[u8], _sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let document: Document = json::read(bytes)?;
    let times = &document.duration_histogram;
    let some = |seconds| json::time(Some(seconds), 1e9).filter(|_| times.count > 0);
    let printed =
        times.percentiles.iter().flatten().map(|one| (units::quantile(&one.percentile.to_string()), some(one.value)));
    let claims = Claims {
        quantiles: json::quantiles(printed),
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
    let load = ForeignLoad { users: Some(document.num_threads), rate_per_second: rate, ..ForeignLoad::default() };
    let duration_resolution_ns = json::time(document.resolution, 1e9).unwrap_or(1_000_000);
    let clock = ForeignClock { duration_resolution_ns, ..ForeignClock::default() };
    Ok(ForeignRun {
        version: document.version.clone(),
        clock,
        load,
        histogram: histogram(times).map(Into::into),
        ..run(claims)
    })
}

/// Returns the count of the histogram of errors, or else of every code except 200.
fn failed(document: &Document) -> Option<u64> {
    if let Some(errors) = &document.errors_duration_histogram {
        return Some(errors.count);
    }
    let failed = document.ret_codes.iter().filter(|(code, _)| *code != "200").map(|(_, count)| *count);
    (!document.ret_codes.is_empty()).then(|| failed.fold(0, u64::saturating_add))
}

/// Makes a histogram that counts every value at the end of its bucket, like percentiles of HdrHistogram.
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

/// A line of the access log.
#[derive(Deserialize)]
struct Entry {
    latency: f64,
    timestamp: u64,
    thread: u32,
    ok: bool,
    #[serde(default)]
    details: String,
}

fn log(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let mut damage = UnusedRows::default();
    let mut failures = FailureClassifier::default();
    let mut rows = 0;
    let mut failed = 0;
    let mut users = None;
    damage.truncated_at = each_row(bytes, |Row { place, line }| {
        let read = serde_json::from_str(line).map_err(|error| error.to_string());
        match read.and_then(|entry| entry_request(&entry, &mut failures)) {
            Ok((one, ok)) => {
                rows += 1;
                failed += u64::from(!ok);
                users = users.max(one.worker.map(|worker| worker.saturating_add(1)));
                sink(&one);
            }
            Err(why) => leave_out(&mut damage, || (place, why)),
        }
    });
    let claims = Claims {
        measured: Some(rows),
        requests: Some(rows),
        failed: Some(failed),
        ..Claims::silent(LatencyFrom::Send)
    };
    let clock = ForeignClock { starts: ForeignStarts::Unix, start_resolution_ns: 1, duration_resolution_ns: 1_000 };
    let load = ForeignLoad { users, ..ForeignLoad::default() };
    Ok(ForeignRun { clock, load, damage, notes: failures.notes(), ..run(claims) })
}

/// Converts an entry. `details` is the status, or -1 without an answer.
fn entry_request(entry: &Entry, failures: &mut FailureClassifier) -> Result<(ForeignRequest, bool), String> {
    let Some(duration) = units::nanos(entry.latency, 1e9) else {
        return Err(format!("a latency of {} s", entry.latency));
    };
    let outcome = match entry.details.parse::<u16>() {
        Ok(status @ 1..) => Outcome::response(status),
        _ => failures.classify(&entry.details),
    };
    let one = ForeignRequest {
        worker: Some(entry.thread),
        ..ForeignRequest::new(Some(entry.timestamp), Nanos(duration.0), outcome)
    };
    Ok((one, entry.ok))
}
