//! Single output files of tools, read without the command line that made them: what an importer has.
//!
//! Each function reads one file and returns what is in it, or a [`ParseError`].

use truetail_run::Claims;

use crate::{ParseError, ReportedRequest, ToolOutput, ToolReport};

pub use crate::gatling::{GatlingLog, read_log as gatling_log};
pub use crate::guidellm::GuideLlmMetrics;

/// An output of which only standard output is known.
fn stdout(bytes: &[u8]) -> ToolOutput {
    ToolOutput { stdout: bytes.to_vec(), exit_code: Some(0), ..ToolOutput::default() }
}

/// The report that wrk prints.
///
/// # Errors
/// [`ParseError`].
pub fn wrk(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::wrk::parse_output(&stdout(bytes))
}

/// The report that wrk2 prints.
///
/// # Errors
/// [`ParseError`].
pub fn wrk2(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::wrk2::parse_output(&stdout(bytes))
}

/// The report that ab prints.
///
/// # Errors
/// [`ParseError`].
pub fn ab(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::ab::parse_output(&stdout(bytes))
}

/// The file of `ab -e`: the latencies in nanoseconds at 0 %, 1 %, … 100 %.
///
/// # Errors
/// [`ParseError`].
pub fn ab_percentiles(bytes: &[u8]) -> Result<Vec<u64>, ParseError> {
    crate::ab::percentiles(bytes)
}

/// The summary or the CSV table that hey prints.
///
/// # Errors
/// [`ParseError`].
pub fn hey(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::hey::parse_output(&stdout(bytes))
}

/// The text, JSON or CSV that oha prints, read as not corrected: none of them says whether `--latency-correction` was on.
///
/// # Errors
/// [`ParseError`].
pub fn oha(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::oha::parse_output(&stdout(bytes), crate::oha::Correction::Unstated)
}

/// The JSON that autocannon prints, also where it has filled up its histogram.
///
/// # Errors
/// [`ParseError`].
pub fn autocannon(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::autocannon::result_file(bytes)
}

/// A row of h2load's `--log-file`, without its line end; `None` if it is none.
pub fn h2load_row(row: &str) -> Option<ReportedRequest> {
    crate::h2load::log_row(row)
}

/// The figures of k6's summary (`--summary-export`, or the data of `handleSummary` as JSON), and the most virtual users that
/// there were.
///
/// # Errors
/// [`ParseError`].
pub fn k6_summary(bytes: &[u8]) -> Result<(Claims, Option<u64>), ParseError> {
    crate::k6::summary_file(bytes)
}

/// The figures of `vegeta report -type=json`.
///
/// # Errors
/// [`ParseError`].
pub fn vegeta_report(bytes: &[u8]) -> Result<Claims, ParseError> {
    crate::vegeta::report_file(bytes)
}

/// The figures of Locust's statistics as JSON.
///
/// # Errors
/// [`ParseError`].
pub fn locust_statistics(bytes: &[u8]) -> Result<Claims, ParseError> {
    crate::locust::statistics(bytes)
}

/// The result that truetail's own runner of Hyperfoil writes.
///
/// # Errors
/// [`ParseError`].
pub fn hyperfoil(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    crate::hyperfoil::result_file(bytes, None)
}
