//! Parser of JMeter's output: a row for each sample, including failed ones, in order of completion and in whole
//! milliseconds, and a line `summary =` at the end of standard output.

use serde::Deserialize;
use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::{Claims, LatencyFrom};

use crate::failure_classifier::FailureClassifier;
use crate::output_reader::{OutputReader, numbered_lines};
use crate::{ParseError, ReportedRequest, ToolOutput, ToolReport};

pub(super) const TESTED: &str = "5.6.3";
pub(super) const SAMPLES: &str = "samples.csv";
const NANOS_PER_MILLI: u64 = 1_000_000;

/// Parses the rows of `tool`, and its summary if present. Fails without rows, or if the summary counts other samples.
pub(super) fn parse(tool: &'static str, output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let stdout = OutputReader::stdout(tool, TESTED);
    let table = output.file(SAMPLES).filter(|bytes| !bytes.is_empty());
    let bytes = table.ok_or_else(|| stdout.no_result(output, "samples of JMeter"))?;
    let mut report = samples(stdout.file(SAMPLES), bytes)?;
    let rows = report.requests.len() as u64;
    if let Some(claims) = summary(stdout, &output.text())? {
        if claims.requests != Some(rows) {
            let summed = claims.requests.unwrap_or_default();
            return Err(stdout
                .file(SAMPLES)
                .error(rows + 1, format!("{rows} samples, but the summary counts {summed}")));
        }
        report.claims = claims;
    }
    Ok(report.with_computed_quantiles())
}

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "timeStamp")]
    start_ms: u64,
    #[serde(rename = "elapsed")]
    elapsed_ms: u64,
    #[serde(rename = "responseCode")]
    code: String,
    #[serde(rename = "responseMessage")]
    message: String,
    success: String,
}

fn samples(reader: OutputReader, bytes: &[u8]) -> Result<ToolReport, ParseError> {
    if bytes.starts_with(b"<?xml") {
        return Err(reader.error(1, "this is XML; set jmeter.save.saveservice.output_format=csv"));
    }
    let mut requests = Vec::new();
    let mut failures = FailureClassifier::default();
    let mut failed = 0;
    reader.each_csv_row(bytes, |line, row: Row| {
        failed += u64::from(row.success != "true");
        requests.push(reader.require(line, "time that fits", request(&row, &mut failures))?);
        Ok(())
    })?;
    Ok(ToolReport { notes: failures.notes(), ..ToolReport::from_requests(LatencyFrom::Send, requests, failed) })
}

/// Converts a row. Without an answer, the code is the name of a Java exception.
fn request(row: &Row, failures: &mut FailureClassifier) -> Option<ReportedRequest> {
    let outcome = match row.code.parse() {
        Ok(status) => Outcome::response(status),
        Err(_) => failures.classify(&format!("{}: {}", row.code, row.message)),
    };
    let start_ns = row.start_ms.checked_mul(NANOS_PER_MILLI)?;
    let latency = Nanos(row.elapsed_ms.checked_mul(NANOS_PER_MILLI)?);
    Some(ReportedRequest { start_ns: Some(start_ns), latency, outcome })
}

/// Parses the last `summary =    617 in 00:00:06 =  101.6/s Avg:    11 Min:     0 Max:    71 Err:    82 (13.29%)`;
/// `None` without a summary.
fn summary(reader: OutputReader, text: &str) -> Result<Option<Claims>, ParseError> {
    let Some((line, sums)) =
        numbered_lines(text).filter_map(|(line, text)| Some((line, text.strip_prefix("summary =")?))).last()
    else {
        return Ok(None);
    };
    let word_after = |label: &str| {
        let rest = sums.split_once(label).map(|(_, rest)| rest.trim_start());
        reader.require(line, label.trim_end_matches(':'), rest.and_then(|rest| rest.split([' ', '/']).next()))
    };
    let requests = reader.number(line, sums.split_whitespace().next().unwrap_or_default())?;
    let millis = |label| reader.number::<u64>(line, word_after(label)?).map(|ms| ms.saturating_mul(NANOS_PER_MILLI));
    let some = |label| if requests > 0 { millis(label).map(Some) } else { Ok(None) };
    Ok(Some(Claims {
        mean_ns: some("Avg:")?,
        max_ns: some("Max:")?,
        measured: Some(requests),
        requests: Some(requests),
        failed: Some(reader.number(line, word_after("Err:")?)?),
        rate_per_second: if requests > 0 { Some(reader.rate(line, word_after(" = ")?)?) } else { None },
        ..Claims::silent(LatencyFrom::Send)
    }))
}
