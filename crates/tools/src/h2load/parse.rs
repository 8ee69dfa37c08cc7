//! Parser of h2load's output: a summary without quantiles, and with `--log-file` a row for each answer, in order of
//! completion and without a header. Columns: start in microseconds since 1970, status, latency in microseconds.

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Nanos;
use truetail_run::{Claims, LatencyFrom};

use crate::output_reader::{OutputReader, find_labelled, numbered_lines};
use crate::{ParseError, ReportedRequest, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "h2load";
pub(super) const TESTED: &str = "1.52.0";
pub(super) const SAMPLES: &str = "samples";
const STDOUT: OutputReader = OutputReader::stdout(NAME, TESTED);
const LOG: OutputReader = STDOUT.file(SAMPLES);

/// Parses the summary and the log, or either. A run that died has no summary, and a run without answers has no log.
pub(super) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let text = output.text();
    let log = output.file(SAMPLES).map(log).transpose()?;
    let mut report = match find_labelled(&text, "finished in") {
        Some(finish) => summary(&text, finish, log.as_deref())?,
        None => without_summary(output, log.as_deref())?,
    };
    report.claims.measured = log.as_ref().map(|log| log.len() as u64);
    report.requests = log.unwrap_or_default();
    Ok(report.with_computed_quantiles())
}

fn without_summary(output: &ToolOutput, log: Option<&[ReportedRequest]>) -> Result<ToolReport, ParseError> {
    let died = output.exit_code != Some(0);
    log.filter(|log| died && !log.is_empty()).ok_or_else(|| STDOUT.no_result(output, "summary of h2load"))?;
    let mut report = ToolReport::from_claims(Claims::silent(LatencyFrom::Send));
    report.notes.push("h2load ended before its summary; its log is used up to there".to_owned());
    Ok(report)
}

fn summary(text: &str, finish: (u64, &str), log: Option<&[ReportedRequest]>) -> Result<ToolReport, ParseError> {
    if !text.ends_with("%\n") || find_labelled(text, "req/s           :").is_none() {
        return Err(STDOUT.error(finish.0, "the summary stops before its last line; it was cut off"));
    }
    let counts = RequestCounts::read(text)?;
    if let Some(log) = log.filter(|log| log.len() as u64 != counts.done) {
        return Err(LOG.error(log.len() as u64, format!("{} rows for {} requests done", log.len(), counts.done)));
    }
    let (mean_ns, max_ns) = mean_and_max(text, counts.done)?;
    let claims = Claims {
        mean_ns,
        max_ns,
        requests: Some(counts.started),
        failed: Some(counts.failed.saturating_sub(counts.never_sent())),
        dropped: Some(counts.never_sent()).filter(|never| *never > 0),
        rate_per_second: Some(rate(finish)?),
        ..Claims::silent(LatencyFrom::Send)
    };
    let notes = counts.notes();
    Ok(ToolReport { notes, ..ToolReport::from_claims(claims) })
}

/// Counts of `requests: A total, B started, C done, D succeeded, E failed, F errored, G timeout`.
struct RequestCounts {
    total: u64,
    started: u64,
    done: u64,
    failed: u64,
    errored: u64,
}

impl RequestCounts {
    fn read(text: &str) -> Result<RequestCounts, ParseError> {
        let (line, rest) = STDOUT.require(None, "line 'requests:'", find_labelled(text, "requests:"))?;
        let count = |name: &str| {
            let cell = rest.split(',').find_map(|cell| cell.trim().strip_suffix(name));
            STDOUT.number(line, STDOUT.require(line, format_args!("number{name}"), cell)?)
        };
        Ok(RequestCounts {
            total: count(" total")?,
            started: count(" started")?,
            done: count(" done")?,
            failed: count(" failed")?,
            errored: count(" errored")?,
        })
    }

    /// Returns the number of requests (`-n`) that were never sent. h2load counts them as errored and failed.
    fn never_sent(&self) -> u64 {
        self.total.saturating_sub(self.started)
    }

    fn notes(&self) -> Vec<String> {
        let broken = self.errored.saturating_sub(self.never_sent());
        match self.started.saturating_sub(self.done).saturating_sub(broken) {
            0 => Vec::new(),
            lost => vec![format!("h2load does not say what happened to {lost} requests that it started")],
        }
    }
}

/// Parses `time for request:    50.20ms     57.19ms     51.02ms       900us    88.38%`, with the maximum in the second
/// and the mean in the third place; `None` if no request was done.
fn mean_and_max(text: &str, done: u64) -> Result<(Option<u64>, Option<u64>), ParseError> {
    let (line, row) = STDOUT.require(None, "time for request", find_labelled(text, "time for request:"))?;
    let cells: Vec<_> = row.split_whitespace().collect();
    let [_, max, mean, ..] = cells[..] else { return Err(STDOUT.error(line, "not minimum, maximum and mean")) };
    if done == 0 {
        return Ok((None, None));
    }
    let time = |text| STDOUT.require(line, format_args!("time in '{text}'"), units::duration(text));
    Ok((Some(time(mean)?.0), Some(time(max)?.0)))
}

/// Parses `6.00s, 97.50 req/s, 11.33KB/s`.
fn rate((line, rest): (u64, &str)) -> Result<f64, ParseError> {
    let rate = rest.split(',').find_map(|cell| cell.trim().strip_suffix(" req/s"));
    STDOUT.rate(line, STDOUT.require(line, "rate", rate)?)
}

fn log(bytes: &[u8]) -> Result<Vec<ReportedRequest>, ParseError> {
    LOG.check_last_line(bytes)?;
    let text = std::str::from_utf8(bytes).map_err(|error| LOG.error(None, error.to_string()))?;
    numbered_lines(text)
        .map(|(line, row)| LOG.require(line, "start, status and time in microseconds", log_row(row)))
        .collect()
}

/// Parses a row of the log; `None` for other text. Status -1 is an HTTP/2 stream that was closed without an answer.
pub(crate) fn log_row(row: &str) -> Option<ReportedRequest> {
    let mut cells = row.split('\t');
    let start = cells.next()?;
    let status = cells.next()?;
    let time = cells.next()?;
    let outcome = match status {
        "-1" => Outcome::Reset(Cause::ClosedBeforeAnswer),
        status => Outcome::response(status.parse().ok()?),
    };
    let start_ns = start.parse::<u64>().ok()?.checked_mul(1_000)?;
    let latency = Nanos(time.parse::<u64>().ok()?.checked_mul(1_000)?);
    cells.next().is_none().then_some(ReportedRequest { start_ns: Some(start_ns), latency, outcome })
}
