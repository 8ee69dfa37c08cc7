//! Parsers of single output files, for importers that do not know the command line of the tool.
//!
//! Each function parses one file. All of them fail with a [`ParseError`] if the tool did not write the file.

use std::collections::BTreeMap;

use truetail_model::record::Outcome;
use truetail_run::Claims;

use crate::{FailureClassifier, ParseError, ReportedRequest, ToolOutput, ToolReport};

pub use crate::fortio::{FortioCall, FortioResult};
pub use crate::gatling::{GatlingLog, read_log as gatling_log};
pub use crate::ghz::GhzResult;
pub use crate::guidellm::GuideLlmMetrics;

/// Returns an output with only standard output. Shells of Windows write line breaks as CR LF, which tools do not.
fn stdout(bytes: &[u8]) -> ToolOutput {
    let mut stdout = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => stdout.extend(line.iter().chain(b"\n")),
            None => stdout.extend(line),
        }
    }
    ToolOutput { stdout, exit_code: Some(0), ..ToolOutput::default() }
}

/// Parses the report that wrk prints.
pub fn wrk(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::wrk::parse_output(&stdout(bytes))
}

/// Parses the report that wrk2 prints.
pub fn wrk2(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::wrk2::parse_output(&stdout(bytes))
}

/// Parses the report that ab prints.
pub fn ab(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::ab::parse_output(&stdout(bytes))
}

/// Parses the file of `ab -e`: the latencies in nanoseconds at 0 %, 1 %, … 100 %.
pub fn ab_percentiles(bytes: &[u8]) -> Result<Vec<u64>, ParseError> {
    crate::ab::percentiles(bytes)
}

/// Parses the summary or the CSV table that hey prints.
pub fn hey(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::hey::parse_output(&stdout(bytes))
}

/// Parses the text, JSON or CSV that oha prints, as uncorrected: no format says whether `--latency-correction` was on.
pub fn oha(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::oha::parse_output(&stdout(bytes), crate::oha::Correction::Unstated)
}

/// Parses the JSON that autocannon prints, even with a back-filled histogram.
pub fn autocannon(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::autocannon::result_file(bytes)
}

/// Parses a row of h2load's `--log-file`, without its line break; `None` for other text.
pub fn h2load_row(row: &str) -> Option<ReportedRequest> {
    crate::h2load::log_row(row)
}

/// Parses k6's summary (`--summary-export`, or JSON of `handleSummary`). Also returns the maximum number of virtual
/// users.
pub fn k6_summary(bytes: &[u8]) -> Result<(Claims, Option<u64>), ParseError> {
    crate::k6::summary_file(bytes)
}

/// Returns the outcome of a request of k6 with this status and error code, 0 without one; `None` for an unknown code.
pub fn k6_outcome(status: u64, error_code: u64) -> Option<Outcome> {
    crate::k6::outcome(status, error_code)
}

/// Returns the outcome of a call of k6 with this status of gRPC. k6 does not say whether the server sent UNAVAILABLE,
/// or the connection was lost.
pub fn k6_call_outcome(status: u64) -> Outcome {
    crate::k6::call_outcome(status)
}

/// Parses the output of `vegeta report -type=json`.
pub fn vegeta_report(bytes: &[u8]) -> Result<Claims, ParseError> {
    crate::vegeta::report_file(bytes)
}

/// Parses ghz's JSON.
pub fn ghz_json(bytes: &[u8]) -> Result<GhzResult, ParseError> {
    crate::ghz::json_result(bytes)
}

/// Parses a row of ghz's CSV, without its line break; `None` for other text.
pub fn ghz_csv_row(row: &str, failures: &mut FailureClassifier) -> Option<ReportedRequest> {
    crate::ghz::csv_row(row, failures)
}

/// Parses fortio's result (`-json`).
pub fn fortio_result(bytes: &[u8]) -> Result<FortioResult, ParseError> {
    crate::fortio::result_file(bytes)
}

/// Parses a line of fortio's access log, without its line break. The error says what is wrong with it.
pub fn fortio_log_line(line: &str, failures: &mut FailureClassifier) -> Result<FortioCall, String> {
    crate::fortio::log_line(line, failures)
}

/// Parses Locust's statistics as JSON. Also returns the number of requests by latency in nanoseconds.
pub fn locust_statistics(bytes: &[u8]) -> Result<(Claims, BTreeMap<u64, u64>), ParseError> {
    crate::locust::statistics(bytes)
}

/// Parses the result of truetail's own runner of Hyperfoil.
pub fn hyperfoil(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::hyperfoil::result_file(bytes, None)
}
