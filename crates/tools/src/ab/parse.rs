//! Parser of ab's output: a report in whole milliseconds, with `-e` percentiles in microseconds, and with `-g` a row
//! for each request. The rows have no status and are **sorted by latency**, so the order of the run is lost.

use serde::Deserialize;
use truetail_model::record::Outcome;
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use crate::output_reader::{OutputReader, find_labelled, numbered_lines, strip_label};
use crate::{ParseError, ReportedRequest, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "ab";
pub(super) const TESTED: &str = "2.3";
pub(super) const SAMPLES: &str = "samples";
pub(super) const PERCENTILES: &str = "percentiles";
const STDOUT: OutputReader = OutputReader::stdout(NAME, TESTED);
const SAMPLES_FILE: OutputReader = STDOUT.file(SAMPLES);
const PERCENTILES_FILE: OutputReader = STDOUT.file(PERCENTILES);

/// Parses the report, and the two files if they exist. Fails if ab gave up without a report.
pub(crate) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let text = output.text();
    let page = AbReport::read(&text)?.ok_or_else(|| STDOUT.no_result(output, "report of ab"))?;
    let mut claims = page.claims(&text)?;
    if let Some(bytes) = output.file(PERCENTILES) {
        refine(&mut claims, &percentiles(bytes)?);
    }
    let mut report = ToolReport::from_claims(claims);
    if let Some(bytes) = output.file(SAMPLES) {
        report.requests = samples(bytes, page.complete)?;
    }
    report = report.with_computed_quantiles();
    if page.unanswered() > 0 {
        // Rows of failed requests look like rows of answers.
        report.requests.clear();
    }
    report.notes = page.notes();
    Ok(report)
}

struct AbReport {
    complete: u64,
    failed_requests: u64,
    connect: u64,
    receive: u64,
    exceptions: u64,
    error_statuses: u64,
}

impl AbReport {
    /// Parses the counts. Returns `None` without a report, and an error if the report was cut off.
    fn read(text: &str) -> Result<Option<AbReport>, ParseError> {
        let Some((line, complete)) = find_labelled(text, "Complete requests:") else { return Ok(None) };
        let complete = STDOUT.number(line, complete)?;
        let last = if complete > 0 { "(longest request)\n" } else { "bytes\n" };
        if !text.ends_with(last) {
            return Err(STDOUT.error(None, "the report stops before its last line; it was cut off"));
        }
        let (connect, receive, exceptions) = kinds_of_failure(text)?;
        let failed_requests = count(text, "Failed requests:")?;
        let error_statuses = if has(text, "Non-2xx responses:") { count(text, "Non-2xx responses:")? } else { 0 };
        Ok(Some(AbReport { complete, failed_requests, connect, receive, exceptions, error_statuses }))
    }

    /// Returns the number of requests without an answer.
    fn unanswered(&self) -> u64 {
        self.connect.saturating_add(self.receive).max(self.exceptions)
    }

    fn claims(&self, text: &str) -> Result<Claims, ParseError> {
        let silent = Claims {
            measured: Some(self.complete),
            requests: Some(self.complete),
            failed: Some(self.unanswered().saturating_add(self.error_statuses)),
            ..Claims::silent(LatencyFrom::Send)
        };
        if self.complete == 0 {
            return Ok(silent);
        }
        let mean = figure(text, "Time per request:")?;
        let rate = figure(text, "Requests per second:")?;
        Ok(Claims {
            quantiles: table(text)?,
            mean_ns: Some(STDOUT.require(mean.0, "time in ms", units::millis(mean.1))?.0),
            max_ns: Some(longest(text)?),
            rate_per_second: Some(STDOUT.rate(rate.0, rate.1)?),
            ..silent
        })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.failed_requests > 0 {
            notes.push(format!(
                "ab's 'Failed requests: {}' counts a reset up to three times, and also answers whose length differs from \
                 the first; truetail counts {} without an answer and {} with an error status",
                self.failed_requests,
                self.unanswered(),
                self.error_statuses
            ));
        }
        if self.unanswered() > 0 {
            notes
                .push("ab's latencies include requests without an answer, which cannot be told from the others".into());
        }
        notes
    }
}

fn has(text: &str, label: &str) -> bool {
    find_labelled(text, label).is_some()
}

fn count(text: &str, label: &str) -> Result<u64, ParseError> {
    let (line, value) = STDOUT.require(None, label, find_labelled(text, label))?;
    STDOUT.number(line, value)
}

/// Parses the connect, receive and exception counts of `(Connect: 0, Receive: 40, Length: 80, Exceptions: 40)`. ab
/// prints the line only if requests failed.
fn kinds_of_failure(text: &str) -> Result<(u64, u64, u64), ParseError> {
    let Some((line, rest)) = find_labelled(text, "(Connect:") else { return Ok((0, 0, 0)) };
    let words =
        ["Receive:", "Length:", "Exceptions:"].iter().try_fold((rest, Vec::new()), |(rest, mut found), word| {
            let (value, rest) = rest.split_once(word)?;
            found.push(value.trim().trim_end_matches(','));
            Some((rest, found))
        });
    let (exceptions, found) = STDOUT.require(line, "four kinds of failure", words)?;
    let exceptions = exceptions.trim().trim_end_matches(')');
    Ok((STDOUT.number(line, found[0])?, STDOUT.number(line, found[1])?, STDOUT.number(line, exceptions)?))
}

/// Returns the line number and the number between a label and its unit in brackets, in the first line with that label.
/// Of the two lines `Time per request`, the first is the latency of a request.
fn figure<'a>(text: &'a str, label: &str) -> Result<(u64, &'a str), ParseError> {
    let (line, value) = STDOUT.require(None, label, find_labelled(text, label))?;
    Ok((line, value.split('[').next().unwrap_or_default().trim()))
}

/// Parses rows such as `  50%     51`.
fn table(text: &str) -> Result<Vec<ClaimedQuantile>, ParseError> {
    let (at, _) =
        STDOUT.require(None, "table of percentages", find_labelled(text, "Percentage of the requests served"))?;
    let rows = numbered_lines(text).skip(at as usize).filter(|(_, row)| !row.trim().is_empty());
    let rows = rows.take_while(|(_, row)| !row.ends_with("(longest request)"));
    let quantile = |(line, row): (u64, &str)| {
        let (percent, time) = STDOUT.require(line, "percentage", row.split_once('%'))?;
        let q = STDOUT.require(line, "percentage between 0 and 100", units::quantile(percent))?;
        Ok(ClaimedQuantile { q, value_ns: STDOUT.require(line, "time", units::millis(time))?.0, printed: true })
    };
    STDOUT.check_ascending(rows.map(quantile).collect::<Result<_, _>>()?)
}

/// Parses ` 100%   1048 (longest request)`.
fn longest(text: &str) -> Result<u64, ParseError> {
    let (line, rest) = STDOUT.require(None, "longest request", find_labelled(text, "100%"))?;
    let time = strip_label(rest, "").and_then(|rest| rest.strip_suffix("(longest request)")).and_then(units::millis);
    Ok(STDOUT.require(line, "time", time)?.0)
}

/// A row of `-e`.
#[derive(Deserialize)]
struct Percentile {
    #[serde(rename = "Percentage served")]
    percent: u32,
    #[serde(rename = "Time in ms")]
    time_ms: f64,
}

/// Parses the latencies in nanoseconds at 0 %, 1 %, … 100 %.
pub(crate) fn percentiles(bytes: &[u8]) -> Result<Vec<u64>, ParseError> {
    let rows = PERCENTILES_FILE.table::<Percentile>(bytes, b',')?;
    let in_order = |(at, (line, row)): (usize, &(u64, Percentile))| {
        let time = units::nanos(row.time_ms, 1e6).filter(|_| row.percent as usize == at);
        Ok(PERCENTILES_FILE.require(*line, format_args!("time of {at} %"), time)?.0)
    };
    let times = rows.iter().enumerate().map(in_order).collect::<Result<Vec<_>, _>>()?;
    match times.len() {
        101 => Ok(times),
        n => Err(PERCENTILES_FILE.error(None, format!("{n} rows instead of 101; it was cut off"))),
    }
}

/// Replaces the quantiles and the maximum of the report by the finer values of the file.
fn refine(claims: &mut Claims, times_ns: &[u64]) {
    for quantile in &mut claims.quantiles {
        quantile.value_ns = times_ns[(quantile.q * 100.0).round() as usize];
    }
    if claims.max_ns.is_some() {
        claims.max_ns = times_ns.last().copied();
    }
}

/// A row of `-g`.
#[derive(Deserialize)]
struct Sample {
    ttime: u64,
}

/// Parses the completed requests. Their status is 0 (unknown), and they have no start, because ab writes it in whole
/// seconds.
fn samples(bytes: &[u8], complete: u64) -> Result<Vec<ReportedRequest>, ParseError> {
    let rows = SAMPLES_FILE.table::<Sample>(bytes, b'\t')?;
    if rows.len() as u64 != complete {
        let what = format!("{} rows for {complete} complete requests; it was cut off", rows.len());
        return Err(SAMPLES_FILE.error(rows.last().map(|(line, _)| *line), what));
    }
    let request = |(line, row): &(u64, Sample)| {
        let latency = SAMPLES_FILE.require(*line, "time in ms", units::nanos(row.ttime as f64, 1e6))?;
        Ok(ReportedRequest { start_ns: None, latency, outcome: Outcome::ANSWERED })
    };
    rows.iter().map(request).collect()
}
