//! Parser of wrk2's output: wrk's report, and with `--latency` a distribution with more quantiles and its spectrum,
//! which is a cumulative histogram.

use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_run::{Claims, LatencyFrom};

use crate::output_reader::{OutputReader, find_labelled, numbered_lines, strip_label};
use crate::wrk::{WrkReport, quantiles};
use crate::{ParseError, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "wrk2";
pub(super) const TESTED: &str = "4.0.0";
const STDOUT: OutputReader = OutputReader::stdout(NAME, TESTED);

/// Parses the report. Of the two distributions that `-U` prints, takes the one from the intended start.
pub(crate) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    let text = output.text();
    let frame = WrkReport::read(STDOUT, output, &text)?;
    // wrk2 counts a hung connection as a timeout again at each check.
    let mut report = ToolReport::from_claims(frame.claims(LatencyFrom::Intended, 0));
    report.notes = notes(&frame, &text);
    if let Some((heading, _)) = find_labelled(&text, "Latency Distribution (HdrHistogram - Recorded Latency)") {
        distribution(&mut report, &text, heading)?;
    }
    Ok(report)
}

fn notes(frame: &WrkReport, text: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if find_labelled(text, "Thread calibration:").is_some() {
        notes.push("its first 10 s are calibration and are not in its latencies".to_owned());
    }
    if frame.timeouts > 0 {
        notes.push(format!("{} timeouts by wrk2's count, which counts a hung connection repeatedly", frame.timeouts));
    }
    notes
}

fn distribution(report: &mut ToolReport, text: &str, heading: u64) -> Result<(), ParseError> {
    let end = Footer::read(text, heading)?;
    let (line, _) = STDOUT.require(heading, "spectrum", find(text, heading, "Value   Percentile"))?;
    let histogram = spectrum(text, line, end.line)?;
    if histogram.count() != end.total {
        let what = format!("the spectrum above counts {}, but this line {}", histogram.count(), end.total);
        return Err(STDOUT.error(end.line, what));
    }
    report.histogram = Some(histogram).filter(|histogram| !histogram.is_empty());
    report.claims = Claims {
        quantiles: if end.total > 0 { quantiles(STDOUT, text, heading)? } else { Vec::new() },
        mean_ns: Some(end.mean_ns).filter(|_| end.total > 0),
        max_ns: Some(end.max_ns).filter(|_| end.total > 0),
        measured: Some(end.total),
        ..report.claims.clone()
    };
    Ok(())
}

/// The lines below a spectrum.
struct Footer {
    /// Line number of `#[Mean`.
    line: u64,
    mean_ns: u64,
    max_ns: u64,
    total: u64,
}

impl Footer {
    /// Parses `#[Mean    =       11.219, StdDeviation   =        0.354]` and
    /// `#[Max     =       12.136, Total count    =          600]`, in milliseconds.
    fn read(text: &str, heading: u64) -> Result<Footer, ParseError> {
        let (line, mean) = STDOUT.require(heading, "mean", find(text, heading, "#[Mean"))?;
        let (max_line, max) = STDOUT.require(line, "maximum", find(text, line, "#[Max"))?;
        let (mean, _) = STDOUT.require(line, "mean", pair(mean, "StdDeviation"))?;
        let (max, total) = STDOUT.require(max_line, "maximum and count", pair(max, "Total count"))?;
        let total = STDOUT.number(max_line, total)?;
        let time = |line, text: &str| match total {
            0 => Ok(0),
            _ => Ok(STDOUT.require(line, "time in ms", units::millis(text))?.0),
        };
        Ok(Footer { line, mean_ns: time(line, mean)?, max_ns: time(max_line, max)?, total })
    }
}

/// Parses `= a, name = b]` into a and b.
fn pair<'a>(rest: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let (first, second) = rest.split_once(',')?;
    let second = strip_label(second, name)?;
    Some((strip_label(first, "=")?, strip_label(second, "=")?.strip_suffix(']')?))
}

fn find<'a>(text: &'a str, below: u64, label: &str) -> Option<(u64, &'a str)> {
    numbered_lines(text).skip(below as usize).find_map(|(line, content)| Some((line, strip_label(content, label)?)))
}

/// Parses the rows between two lines: value in ms, percentile, cumulative count, and 1/(1-percentile).
fn spectrum(text: &str, below: u64, above: u64) -> Result<Histogram, ParseError> {
    let mut histogram = Histogram::new();
    let mut last = (Nanos::ZERO, 0u64);
    let rows = numbered_lines(text).skip(below as usize).take_while(|(line, _)| *line < above);
    for (line, row) in rows.filter(|(_, row)| !row.trim().is_empty()) {
        let cells: Vec<_> = row.split_whitespace().collect();
        let [value, _, count, _] = cells[..] else { return Err(STDOUT.error(line, "not the four columns")) };
        let value = STDOUT.require(line, "time in ms", units::millis(value))?;
        let count: u64 = STDOUT.number(line, count)?;
        if value < last.0 || count < last.1 {
            return Err(STDOUT.error(line, "less than in the line before"));
        }
        histogram.record_n(value, count - last.1);
        last = (value, count);
    }
    Ok(histogram)
}
