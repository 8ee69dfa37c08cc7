//! Stored files, the load of the tests, and reports as lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Rate};
use truetail_run::{ClaimedQuantile, Claims};
use truetail_tools::{LoadSpec, ParseError, ToolOutput, ToolReport, by_name};

/// Returns a path below `testdata/tools`.
pub(crate) fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tools").join(path)
}

pub(crate) fn bytes_of(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn parse(tool: &str, output: &ToolOutput) -> Result<ToolReport, ParseError> {
    by_name(tool).unwrap_or_else(|| panic!("no tool {tool}")).parse(output, &load())
}

pub(crate) fn load() -> LoadSpec {
    LoadSpec {
        url: "http://127.0.0.1:8080/api".to_owned(),
        rate: Rate::per_second(100.0).expect("a rate"),
        duration: Nanos::from_secs(6),
        users: 5,
        connections: 5,
        timeout: None,
        answer_tokens: None,
    }
}

/// Describes a report in lines, with times in milliseconds. Figures that are missing are left out; `*` marks a quantile
/// that the tool does not print.
pub(crate) fn described(report: &Result<ToolReport, ParseError>) -> Vec<String> {
    let report = match report {
        Ok(report) => report,
        Err(error) => return vec![complaint(error)],
    };
    let Claims { quantiles, mean_ns, max_ns, rate_per_second, latency_from, .. } = &report.claims;
    let Claims { measured, requests, failed, error_answers, dropped, .. } = &report.claims;
    let counts = [
        ("measured", measured),
        ("requests", requests),
        ("failed", failed),
        ("error answers", error_answers),
        ("dropped", dropped),
    ];
    let mut figures: Vec<_> = report.version.iter().map(|version| format!("version {version}")).collect();
    figures.push(format!("latency from {latency_from:?}"));
    figures.extend(counts.iter().filter_map(|(name, count)| Some(format!("{name} {}", (**count)?))));
    figures.extend(rate_per_second.map(|rate| format!("rate {rate}")));
    figures.extend(mean_ns.map(|ns| format!("mean {}", millis(ns))));
    let mut lines = vec![figures.join(", ")];
    lines.push(times("latencies:", quantiles, *max_ns));
    if !report.requests.is_empty() {
        lines.push(format!("single: {}", outcomes(report)));
    }
    lines.extend(report.histogram.as_ref().map(|histogram| format!("histogram of {}", histogram.count())));
    if let Some(streams) = &report.streams {
        let of = streams.measured.map_or("unknown".to_owned(), |measured| measured.to_string());
        lines.push(times(&format!("first of {of}:"), &streams.first, streams.first_max_ns));
        lines.push(times(&format!("gap of {:?}:", streams.gap_of), &streams.gaps, streams.gap_max_ns));
    }
    lines.extend(report.notes.iter().map(|note| format!("note: {note}")));
    lines
}

/// Returns the place and the problem of an error, without the tool and the tested version.
fn complaint(error: &ParseError) -> String {
    let text = format!("error: {error}").replacen(&format!("{}: ", error.tool), "", 1);
    let tested = format!(" (this parser was tested with {} {})", error.tool, error.tested);
    text.strip_suffix(&tested).unwrap_or_else(|| panic!("no tested version in: {text}")).to_owned()
}

fn millis(ns: u64) -> String {
    format!("{}", ns as f64 / 1e6)
}

fn times(name: &str, quantiles: &[ClaimedQuantile], max_ns: Option<u64>) -> String {
    let quantiles = quantiles.iter().map(|claim| {
        let percent = format!("{:.3}", claim.q * 100.0);
        let star = if claim.printed { "" } else { "*" };
        format!(" p{}={}{star}", percent.trim_end_matches('0').trim_end_matches('.'), millis(claim.value_ns))
    });
    let max = max_ns.map(|ns| format!(" max={}", millis(ns)));
    [name.to_owned()].into_iter().chain(quantiles).chain(max).collect()
}

/// Returns the count of each outcome of single requests, with the status of answers and the cause of failures.
fn outcomes(report: &ToolReport) -> String {
    let mut counts = BTreeMap::<String, usize>::new();
    for request in &report.requests {
        let detail = match request.outcome {
            Outcome::Response { status: Some(status) } => format!(" {status}"),
            outcome => outcome.cause().map(|cause| format!(" {}", cause.name())).unwrap_or_default(),
        };
        *counts.entry(format!("{}{detail}", request.outcome.name())).or_default() += 1;
    }
    let counts: Vec<_> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    counts.join(", ")
}
