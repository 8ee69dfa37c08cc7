//! Hyperfoil's results: the JSON of a run (`all.json`, run-schema v3), and the result of truetail's own runner.

use std::collections::BTreeMap;

use serde::Deserialize;
use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_run::{Claims, FilePlace, ForeignClock, ForeignRun, LatencyFrom};
use truetail_tools::{files, units};

use crate::whole::file::{WholeFile, content, refused, run, run_of};
use crate::whole::json;
use crate::{FormatInfo, ImportError, RequestSink};

pub(crate) static RUN: WholeFile = WholeFile {
    info: &FormatInfo { name: "hyperfoil", about: "a run of Hyperfoil, all.json", tool: Some("hyperfoil") },
    model: None,
    likeness: |excerpt| json::has_keys(excerpt, &["benchmark", "$schema", "stats", "failures"]),
    parse: read_run,
};

pub(crate) static RESULT: WholeFile = WholeFile {
    info: &FormatInfo {
        name: "hyperfoil-lab",
        about: "what the laboratory's runner of Hyperfoil writes",
        tool: Some("hyperfoil"),
    },
    model: None,
    likeness: |excerpt| json::has_keys(excerpt, &["format", "hyperfoil", "buckets_ns"]),
    parse: read_result,
};

/// Times are in nanoseconds.
const CLOCK: ForeignClock =
    ForeignClock { starts: truetail_run::ForeignStarts::None, start_resolution_ns: 0, duration_resolution_ns: 1 };

fn read_result(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    json::check(bytes)?;
    let report = files::hyperfoil(bytes).map_err(|error| refused(bytes, &error))?;
    Ok(ForeignRun { clock: CLOCK, ..run_of(report, sink) })
}

#[derive(Deserialize)]
struct Document {
    version: Option<String>,
    stats: Vec<Stats>,
}

/// A metric in a phase.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    phase: String,
    metric: String,
    #[serde(default)]
    is_warmup: bool,
    total: Total,
    histogram: Option<Distribution>,
}

#[derive(Deserialize)]
struct Total {
    summary: Summary,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    mean_response_time: u64,
    max_response_time: u64,
    percentile_response_time: BTreeMap<String, u64>,
    request_count: u64,
    response_count: u64,
    invalid: u64,
    blocked_time: u64,
}

#[derive(Deserialize)]
struct Distribution {
    percentiles: Vec<Step>,
}

/// `count` values are above the last step and at most `to`.
#[derive(Deserialize)]
struct Step {
    to: f64,
    count: u64,
}

/// Reads the counts outside of the warm-up. Percentiles do not add up, so figures are only read for a single metric.
fn read_run(bytes: &[u8], _sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let document: Document = json::read(bytes)?;
    let measured: Vec<&Stats> = document.stats.iter().filter(|stats| !stats.is_warmup).collect();
    if measured.is_empty() {
        return Err(content(FilePlace { byte: 0, line: 1 }, "no statistics: nothing was sent, or only in warm-up"));
    }
    let sum =
        |of: fn(&Summary) -> u64| measured.iter().map(|stats| of(&stats.total.summary)).fold(0, u64::saturating_add);
    let counts = Claims {
        measured: Some(sum(|summary| summary.response_count)),
        requests: Some(sum(|summary| summary.request_count)),
        failed: Some(sum(|summary| summary.invalid)),
        ..Claims::silent(LatencyFrom::Send)
    };
    let claims = match measured[..] {
        [one] => figures(&one.total.summary, counts),
        _ => counts,
    };
    let histogram = histogram(&measured);
    let notes = notes(&measured, sum(|summary| summary.blocked_time));
    Ok(ForeignRun {
        version: document.version,
        clock: CLOCK,
        histogram: histogram.map(Into::into),
        notes,
        ..run(claims)
    })
}

fn figures(summary: &Summary, counts: Claims) -> Claims {
    if summary.response_count == 0 {
        return counts;
    }
    let named =
        summary.percentile_response_time.iter().map(|(percent, value)| (units::quantile(percent), Some(*value)));
    Claims {
        quantiles: json::quantiles(named),
        mean_ns: Some(summary.mean_response_time),
        max_ns: Some(summary.max_response_time),
        ..counts
    }
}

/// Combines all metrics. Returns `None` if one of them has no steps.
fn histogram(measured: &[&Stats]) -> Option<Histogram> {
    let mut histogram = Histogram::new();
    for stats in measured {
        for Step { to, count } in &stats.histogram.as_ref()?.percentiles {
            let to = units::nanos(*to, 1.0)?;
            histogram.count().checked_add(*count)?;
            histogram.record_n(Nanos(to.0), *count);
        }
    }
    Some(histogram).filter(|histogram| !histogram.is_empty())
}

fn notes(measured: &[&Stats], blocked_ns: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if measured.len() > 1 {
        let names: Vec<_> = measured.iter().map(|stats| format!("{}/{}", stats.phase, stats.metric)).collect();
        notes.push(format!("{} metrics were read as one: {}", names.len(), names.join(", ")));
    }
    if blocked_ns > 0 {
        let seconds = Nanos(blocked_ns).as_secs_f64();
        notes.push(format!("requests waited {seconds:.3} s in total for a connection; its latencies include this"));
    }
    notes
}
