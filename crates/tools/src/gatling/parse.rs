//! Parser of Gatling's output: a log with start and end of each request in whole milliseconds, binary from 3.13 on, and
//! a table at the end of standard output.

use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use super::log::{LOG, LOG_FILE, NAME, NANOS_PER_MILLI, TESTED};
use super::{binary, text};
use crate::output_reader::{OutputReader, numbered_lines};
use crate::{ParseError, ToolOutput, ToolReport, units};

const STDOUT: OutputReader = OutputReader::stdout(NAME, TESTED);
/// First bytes of a text log. A binary log begins with a zero.
const TEXT: &[u8] = b"RUN\t";

/// Parses the log, and the table if present. Fails if the log is missing, or if the table counts other requests.
/// Supports Gatling 3.11 and 3.15.
pub(super) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let bytes = output.file(LOG).filter(|bytes| !bytes.is_empty());
    let bytes = bytes.ok_or_else(|| LOG_FILE.no_result(output, "log of Gatling"))?;
    let log = if bytes.starts_with(TEXT) { text::read(bytes)? } else { binary::read(bytes)? };
    let mut report = ToolReport {
        version: Some(log.version),
        notes: log.failures.notes(),
        ..ToolReport::from_requests(LatencyFrom::Send, log.requests, log.failed)
    };
    if let Some(claims) = table(&output.text())? {
        let rows = report.requests.len() as u64;
        let printed = claims.requests.unwrap_or_default();
        if printed != rows {
            return Err(
                LOG_FILE.error(None, format!("{rows} requests, but the table counts {printed}; it was cut off"))
            );
        }
        report.claims = Claims { failed: Some(log.failed), ..claims };
    }
    Ok(report.with_computed_quantiles())
}

/// Parses the table `Global Information`. Its first column counts all requests, and a dash is a missing value.
fn table(text: &str) -> Result<Option<Claims>, ParseError> {
    let mut lines = numbered_lines(text).skip_while(|(_, line)| !line.starts_with("---- Global Information"));
    if lines.next().is_none() {
        return Ok(None);
    }
    let rows = lines.take_while(|(_, line)| line.starts_with("> "));
    let mut claims = Claims { measured: None, ..Claims::silent(LatencyFrom::Send) };
    for (line, row) in rows {
        let (name, cell) = STDOUT.require(line, "name and number", name_and_total(row))?;
        if cell != "-" {
            claim(&mut claims, line, name, &cell.replace(',', ""))?;
        }
    }
    claims.measured = claims.requests;
    claims.quantiles = STDOUT.check_ascending(claims.quantiles)?;
    STDOUT.require(None, "row 'request count' in its table", claims.requests).map(|_| Some(claims))
}

/// Parses `> request count      |   1,600 |   1,600 |   -` (from 3.13 on) or
/// `> request count     600 (OK=600    KO=0     )`.
fn name_and_total(row: &str) -> Option<(&str, &str)> {
    let row = row.strip_prefix("> ")?;
    let (name, total) = match row.split_once('|') {
        Some((name, cells)) => (name, cells.split('|').next()?),
        None => row.split_once("(OK=")?.0.trim_end().rsplit_once(' ')?,
    };
    Some((name.trim(), total.trim()))
}

fn claim(claims: &mut Claims, line: u64, name: &str, cell: &str) -> Result<(), ParseError> {
    let millis = || STDOUT.number::<u64>(line, cell).map(|ms| ms.saturating_mul(NANOS_PER_MILLI));
    match name.trim_end_matches(" (ms)") {
        "request count" => claims.requests = Some(STDOUT.number(line, cell)?),
        "max response time" => claims.max_ns = Some(millis()?),
        "mean response time" => claims.mean_ns = Some(millis()?),
        "mean throughput (rps)" | "mean requests/sec" => claims.rate_per_second = Some(STDOUT.rate(line, cell)?),
        name => {
            let percent = name.strip_prefix("response time ").and_then(|rest| rest.strip_suffix("th percentile"));
            if let Some(q) = percent.and_then(units::quantile) {
                claims.quantiles.push(ClaimedQuantile { q, value_ns: millis()?, printed: true });
            }
        }
    }
    Ok(())
}
