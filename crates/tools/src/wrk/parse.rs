//! Parser of wrk's output: a text report with four quantiles of its histogram. wrk2, a fork, prints the same
//! [`WrkReport`] with other distributions.

use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use crate::output_reader::{OutputReader, find_labelled, numbered_lines, strip_label};
use crate::{ParseError, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "wrk";
pub(super) const TESTED: &str = "4.1.0";
const STDOUT: OutputReader = OutputReader::stdout(NAME, TESTED);

/// Parses the report. Fails if it is missing, or if it is wrk2's.
pub(crate) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let text = output.text();
    let frame = WrkReport::read(STDOUT, output, &text)?;
    if let Some((line, _)) = find_labelled(&text, "Latency Distribution (HdrHistogram") {
        return Err(STDOUT.error(line, "this is output of wrk2, not wrk"));
    }
    let quantiles = match find_labelled(&text, "Latency Distribution") {
        Some((line, "")) if frame.mean_and_max_ns.is_some() => quantiles(STDOUT, &text, line)?,
        _ => Vec::new(),
    };
    let claims = frame.claims(LatencyFrom::BackFilled, frame.timeouts);
    let mut report = ToolReport::from_claims(Claims { quantiles, ..claims });
    report.notes.push("wrk adds requests to its histogram that it never sent, and does not say how many".to_owned());
    Ok(report)
}

/// The part of the report that wrk and wrk2 share.
pub(crate) struct WrkReport {
    /// Number of answers.
    pub requests: u64,
    /// Mean and maximum latency; `None` if no answer was measured.
    pub mean_and_max_ns: Option<(u64, u64)>,
    /// Connect, read and write errors.
    pub broken: u64,
    /// Timeouts, as wrk counts them.
    pub timeouts: u64,
    /// Answers with a status other than 2xx and 3xx.
    pub error_statuses: u64,
    /// Requests per second.
    pub rate: f64,
}

impl WrkReport {
    /// Parses the shared part. The last line of a complete report is the transfer rate.
    pub(crate) fn read(reader: OutputReader, output: &ToolOutput, text: &str) -> Result<WrkReport, ParseError> {
        if !text.lines().any(|line| line.starts_with("Running ") && line.contains(" test @ ")) {
            return Err(reader.no_result(output, &format!("report of {}", reader.tool)));
        }
        let cut_off = |line| reader.error(line, "the report stops before its last line; it was cut off");
        let (line, requests) = requests(text).ok_or_else(|| cut_off(None))?;
        let requests = reader.number(line, requests)?;
        if !text.ends_with('\n') || find_labelled(text, "Transfer/sec:").is_none() {
            return Err(cut_off(Some(line)));
        }
        let (line, rate) = reader.require(line, "Requests/sec", find_labelled(text, "Requests/sec:"))?;
        let rate = reader.rate(line, rate)?;
        let mean_and_max_ns = mean_and_max(reader, text)?;
        let [connect, read, write, timeouts] = socket_errors(reader, text)?;
        let broken = connect.saturating_add(read).saturating_add(write);
        let error_statuses = error_statuses(reader, text)?;
        Ok(WrkReport { requests, mean_and_max_ns, broken, timeouts, error_statuses, rate })
    }

    /// Returns the figures. The given number of `timeouts` counts as failed requests.
    pub(crate) fn claims(&self, latency_from: LatencyFrom, timeouts: u64) -> Claims {
        Claims {
            mean_ns: self.mean_and_max_ns.map(|(mean, _)| mean),
            max_ns: self.mean_and_max_ns.map(|(_, max)| max),
            requests: Some(self.requests),
            failed: Some(self.broken.saturating_add(self.error_statuses).saturating_add(timeouts)),
            rate_per_second: Some(self.rate),
            ..Claims::silent(latency_from)
        }
    }
}

/// Parses `  714 requests in 6.00s, 82.97KB read`.
fn requests(text: &str) -> Option<(u64, &str)> {
    numbered_lines(text).find_map(|(line, content)| {
        let (count, rest) = content.split_once(" requests in ")?;
        rest.ends_with(" read").then_some((line, count))
    })
}

/// Parses `    Latency    50.42ms  138.34us  51.40ms   88.24%`: mean, standard deviation, maximum. If nothing was
/// measured, the maximum is 0, and the mean is 0 or not a number.
fn mean_and_max(reader: OutputReader, text: &str) -> Result<Option<(u64, u64)>, ParseError> {
    let (at, _) = reader.require(None, "Thread Stats", find_labelled(text, "Thread Stats"))?;
    let (line, row) = reader.require(at, "line", numbered_lines(text).nth(at as usize))?;
    let cells = strip_label(row, "Latency").map(|row| row.split_whitespace().collect::<Vec<_>>());
    match reader.require(line, "latency", cells)?[..] {
        [mean, _, max, _] => match time(reader, line, max)? {
            0 => Ok(None),
            max => Ok(Some((time(reader, line, mean)?, max))),
        },
        _ => Err(reader.error(line, "not mean, deviation, maximum and a share")),
    }
}

fn time(reader: OutputReader, line: u64, text: &str) -> Result<u64, ParseError> {
    Ok(reader.require(line, format_args!("time in '{text}'"), units::duration(text))?.0)
}

/// Parses `  Socket errors: connect 0, read 54, write 0, timeout 0`, which is printed only if errors occurred.
fn socket_errors(reader: OutputReader, text: &str) -> Result<[u64; 4], ParseError> {
    let Some((line, rest)) = find_labelled(text, "Socket errors:") else { return Ok([0; 4]) };
    let cells: Vec<_> = rest.split(',').collect();
    let kinds = ["connect", "read", "write", "timeout"];
    if cells.len() != kinds.len() {
        return Err(reader.error(line, "not the four kinds of error"));
    }
    let mut counts = [0; 4];
    for ((count, kind), cell) in counts.iter_mut().zip(kinds).zip(cells) {
        *count = reader.number(line, reader.require(line, kind, strip_label(cell, kind))?)?;
    }
    Ok(counts)
}

fn error_statuses(reader: OutputReader, text: &str) -> Result<u64, ParseError> {
    find_labelled(text, "Non-2xx or 3xx responses:").map_or(Ok(0), |(line, count)| reader.number(line, count))
}

/// Parses the rows ` 50.000%   11.14ms` below a heading, up to the first other line. Omits 100 %, which is the maximum.
pub(crate) fn quantiles(reader: OutputReader, text: &str, heading: u64) -> Result<Vec<ClaimedQuantile>, ParseError> {
    let rows = numbered_lines(text).skip(heading as usize).map_while(|(line, row)| Some((line, row.split_once('%')?)));
    let rows = rows.filter(|(_, (percent, _))| percent.trim() != "100.000");
    let quantile = |(line, (percent, value)): (u64, (&str, &str))| {
        let q = reader.require(line, "percentage between 0 and 100", units::quantile(percent))?;
        Ok(ClaimedQuantile { q, value_ns: time(reader, line, value)?, printed: true })
    };
    reader.check_ascending(rows.map(quantile).collect::<Result<_, _>>()?)
}
