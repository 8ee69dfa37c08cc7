//! Parser of truetail's output: run.json on standard output, and samples.csv.

use serde::Deserialize;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Nanos;
use truetail_run::wire::{self, v1::RunFile};
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use super::streams;
use crate::{ParseError, ReportedRequest, ToolOutput, ToolReport};

pub(super) const TESTED: &str = env!("CARGO_PKG_VERSION");
/// File with single requests.
pub(super) const SAMPLES: &str = "samples.csv";

/// Parses an open-loop run.
pub(super) fn open(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    report("truetail", output, LatencyFrom::Intended)
}

/// Parses a closed-loop run.
pub(super) fn closed(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    report("truetail-closed", output, LatencyFrom::Send)
}

/// Parses an open-loop run against a language model.
pub(super) fn model(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    report("truetail-llm", output, LatencyFrom::Intended)
}

fn report(tool: &'static str, output: &ToolOutput, latency_from: LatencyFrom) -> Result<ToolReport, ParseError> {
    let broken = |file, line, what| ParseError { tool, tested: TESTED, file, line, what };
    let text = output.text();
    let run = wire::parse(&text).map_err(|error| broken("stdout", None, error.to_string()))?;
    let requests = match output.file(SAMPLES) {
        None => Vec::new(),
        Some(bytes) => requests(bytes).map_err(|(line, what)| broken(SAMPLES, line, what))?,
    };
    let mut report = ToolReport::from_claims(claims(&run, latency_from));
    report.version = Some(run.version.clone());
    report.streams = streams::claims(&run);
    let reasons = run.verdict.reasons.iter().map(|reason| reason.code.clone()).collect::<Vec<_>>();
    if !reasons.is_empty() {
        report.notes.push(format!("its own verdict: {}, because of {}", run.verdict.state.name(), reasons.join(", ")));
    }
    report.requests = requests;
    Ok(report)
}

/// Returns the stated figures. A lower bound is not a figure.
fn claims(run: &RunFile, latency_from: LatencyFrom) -> Claims {
    let stated = run.response_time.quantiles.iter().filter(|quantile| quantile.q < 1.0 && quantile.supported);
    let number = |at_least: bool, value: Option<u64>| value.filter(|_| !at_least);
    let tally = &run.tally;
    Claims {
        quantiles: stated
            .filter_map(|quantile| {
                let value_ns = number(quantile.at_least, quantile.value_ns)?;
                Some(ClaimedQuantile { q: quantile.q, value_ns, printed: true })
            })
            .collect(),
        mean_ns: run.response_time.mean_ns.map(|mean| mean.round() as u64),
        max_ns: number(run.response_time.censored + run.response_time.failed > 0, run.response_time.max_ns),
        measured: Some(tally.planned),
        requests: Some(tally.issued),
        failed: Some(tally.unanswered()),
        error_answers: Some(run.statuses.iter().filter(|(status, _)| **status >= 400).map(|(_, count)| count).sum()),
        dropped: Some(tally.never_issued),
        rate_per_second: run.throughput_per_second,
        ..Claims::silent(latency_from)
    }
}

#[derive(Deserialize)]
struct Row<'a> {
    kept: &'a str,
    intended_start_ns: u64,
    end_ns: u64,
    outcome: &'a str,
    status: Option<u16>,
    cause: Option<Cause>,
}

/// Parses the single requests if the file has all of them. A mere sample is not the distribution, so it counts as none.
fn requests(bytes: &[u8]) -> Result<Vec<ReportedRequest>, (Option<u64>, String)> {
    let mut reader = csv::Reader::from_reader(bytes);
    let of_csv = |error: csv::Error| (error.position().map(csv::Position::line), error.to_string());
    let headers = reader.headers().map_err(of_csv)?.clone();
    let mut record = csv::StringRecord::new();
    let mut requests = Vec::new();
    while reader.read_record(&mut record).map_err(of_csv)? {
        let row: Row<'_> = record.deserialize(Some(&headers)).map_err(of_csv)?;
        if row.kept != "all" {
            return Ok(Vec::new());
        }
        let line = record.position().map(csv::Position::line);
        let outcome = outcome(&row).ok_or_else(|| (line, format!("'{}' is not an outcome", row.outcome)))?;
        let latency = Nanos(row.end_ns.saturating_sub(row.intended_start_ns));
        requests.push(ReportedRequest { start_ns: Some(row.intended_start_ns), latency, outcome });
    }
    Ok(requests)
}

fn outcome(row: &Row<'_>) -> Option<Outcome> {
    Some(match (row.outcome, row.cause) {
        ("response", _) => row.status.map_or(Outcome::ANSWERED, Outcome::response),
        ("connect_failed", Some(cause)) => Outcome::ConnectFailed(cause),
        ("reset", Some(cause)) => Outcome::Reset(cause),
        ("malformed", Some(cause)) => Outcome::Malformed(cause),
        ("timed_out", _) => Outcome::TimedOut,
        ("in_flight_at_end", _) => Outcome::InFlightAtEnd,
        ("never_issued", _) => Outcome::NeverIssued,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "kept,index,intended_start_ns,actual_start_ns,end_ns,outcome,status,cause,bytes_in\n";

    #[test]
    fn single_requests_are_read_where_all_are_there() {
        let rows = "all,0,5,6,15,response,200,,2\nall,1,10,10,40,timed_out,,,0\n";
        let requests = requests(format!("{HEAD}{rows}").as_bytes()).unwrap();
        let told: Vec<_> = requests.iter().map(|request| (request.start_ns, request.latency.0)).collect();
        assert_eq!(told, [(Some(5), 10), (Some(10), 30)]);
        assert_eq!(requests[1].outcome, Outcome::TimedOut);
        let part = "one-in-2,0,5,6,15,response,200,,2\n";
        assert_eq!(super::requests(format!("{HEAD}{part}").as_bytes()), Ok(Vec::new()));
        let wrong = super::requests(format!("{HEAD}all,0,5,6,15,answered,200,,2\n").as_bytes()).unwrap_err();
        assert_eq!(wrong.0, Some(2));
    }

    #[test]
    fn what_is_no_run_is_told_with_tool_and_file() {
        for text in ["", "{}", "{\"schema\": \"truetail.run/9\"}", "usage: truetail"] {
            let output = ToolOutput { stdout: text.as_bytes().to_vec(), ..ToolOutput::default() };
            let error = open(&output).unwrap_err().to_string();
            assert!(error.starts_with("truetail: stdout: "), "{error}");
        }
    }
}
