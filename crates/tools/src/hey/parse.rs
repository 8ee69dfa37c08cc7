//! Parser of hey's output: with `-o csv` a row for each answer, in order of completion, or else a summary. Times are in
//! seconds.

use serde::Deserialize;
use truetail_model::record::Outcome;
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use crate::output_reader::{OutputReader, find_labelled, numbered_lines};
use crate::{ParseError, ReportedRequest, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "hey";
pub(super) const TESTED: &str = "0.1.4";
const STDOUT: OutputReader = OutputReader::stdout(NAME, TESTED);
/// Maximum number of results that hey keeps.
const MAX_RESULTS: usize = 1_000_000;

/// Parses the table or the summary.
pub(crate) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let text = output.text();
    if text.starts_with("response-time,") {
        return csv(&output.stdout);
    }
    match text.trim_start().starts_with("Summary:") {
        true => summary(&text),
        false => Err(STDOUT.no_result(output, "table and no summary as hey prints them")),
    }
}

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "response-time")]
    response_time: f64,
    #[serde(rename = "status-code")]
    status: u16,
    offset: f64,
}

/// Parses the table, which has no rows for requests without an answer.
fn csv(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    let rows = STDOUT.table::<Row>(bytes, b',')?;
    let requests = rows.iter().map(|(line, row)| STDOUT.require(*line, "two times of 0 s or more", request(row)));
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    let claims = Claims { measured: Some(requests.len() as u64), ..Claims::silent(LatencyFrom::Send) };
    let mut report = ToolReport { requests, ..ToolReport::from_claims(claims) };
    report.notes.push("hey's CSV has no rows for requests without an answer".to_owned());
    if report.requests.len() >= MAX_RESULTS {
        report.notes.push(format!("hey keeps only its first {MAX_RESULTS} results"));
    }
    Ok(report.with_computed_quantiles().with_counted_error_answers())
}

fn request(row: &Row) -> Option<ReportedRequest> {
    Some(ReportedRequest {
        start_ns: Some(units::nanos(row.offset, 1e9)?.0),
        latency: units::nanos(row.response_time, 1e9)?,
        outcome: Outcome::response(row.status),
    })
}

fn summary(text: &str) -> Result<ToolReport, ParseError> {
    let answers = STDOUT.bracketed(text, "Status code distribution:")?.ok_or_else(cut_off)?;
    let failures = STDOUT.bracketed(text, "Error distribution:")?;
    // The template ends with two blank lines. Errors, if any, come between them.
    if !text.ends_with(if failures.is_some() { "\n\n" } else { "\n\n\n\n" }) {
        return Err(cut_off());
    }
    let is_error = |status: &str| status.trim().parse::<u16>().is_ok_and(|status| status >= 400);
    let errors: Vec<_> = answers.iter().filter(|(_, status, _)| is_error(status)).copied().collect();
    let error_answers = STDOUT.responses(&errors)?;
    let answers = STDOUT.responses(&answers)?;
    let failed = failures
        .unwrap_or_default()
        .iter()
        .try_fold(0u64, |sum, (line, count, _error)| Ok(sum.saturating_add(STDOUT.number::<u64>(*line, count)?)))?;
    let claims = Claims {
        quantiles: quantiles(text)?,
        mean_ns: time(text, "Average:", answers)?,
        max_ns: time(text, "Slowest:", answers)?,
        measured: Some(answers),
        requests: Some(answers.saturating_add(failed)),
        failed: Some(failed),
        error_answers: Some(error_answers),
        rate_per_second: Some(rate(text)?),
        ..Claims::silent(LatencyFrom::Send)
    };
    Ok(ToolReport::from_claims(claims))
}

fn cut_off() -> ParseError {
    STDOUT.error(None, "the summary stops before the end of its last section; it was cut off")
}

/// Parses a time of the summary; `None` if nothing was measured. hey then prints NaN or 0.
fn time(text: &str, label: &str, measured: u64) -> Result<Option<u64>, ParseError> {
    let (line, value) = STDOUT.require(None, label, find_labelled(text, label))?;
    if measured == 0 {
        return Ok(None);
    }
    let time = value.strip_suffix(" secs").and_then(units::seconds);
    Ok(Some(STDOUT.require(line, "time in secs", time)?.0))
}

fn rate(text: &str) -> Result<f64, ParseError> {
    let (line, value) = STDOUT.require(None, "Requests/sec", find_labelled(text, "Requests/sec:"))?;
    STDOUT.rate(line, value)
}

/// Parses lines such as `50% in 0.0106 secs`, or since 0.1.5 with two per cent signs.
fn quantiles(text: &str) -> Result<Vec<ClaimedQuantile>, ParseError> {
    let lines = numbered_lines(text).filter_map(|(line, content)| Some((line, content.trim().split_once("% in ")?)));
    let quantile = |(line, (percent, value)): (u64, (&str, &str))| {
        let q = STDOUT.require(line, "percentage", units::quantile(percent.trim_end_matches('%')))?;
        let time = value.strip_suffix(" secs").and_then(units::seconds);
        Ok(ClaimedQuantile { q, value_ns: STDOUT.require(line, "time in secs", time)?.0, printed: true })
    };
    STDOUT.check_ascending(lines.map(quantile).collect::<Result<_, _>>()?)
}
