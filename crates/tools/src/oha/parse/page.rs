//! Parser of oha's text output. The unit of a time depends on its size: `10.7964 ms`, `1.0075 sec`.

use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use super::common::{Errors, STDOUT};
use crate::output_reader::{find_labelled, numbered_lines};
use crate::{ParseError, ToolReport, units};

pub(super) fn parse(text: &str) -> Result<ToolReport, ParseError> {
    STDOUT.check_last_line(text.as_bytes())?;
    let answers = STDOUT.bracketed(text, "Status code distribution:")?;
    let answers = STDOUT.require(None, "status code distribution; the page was cut off", answers)?;
    let answers = STDOUT.responses(&answers)?;
    let mut errors = Errors::default();
    for (line, count, what) in STDOUT.bracketed(text, "Error distribution:")?.unwrap_or_default() {
        errors.add(what, STDOUT.number(line, count)?);
    }
    let (line, rate) = STDOUT.require(None, "Requests/sec", find_labelled(text, "Requests/sec:"))?;
    let claims = Claims {
        quantiles: if answers > 0 { quantiles(text)? } else { Vec::new() },
        mean_ns: figure(text, "Average:", answers)?,
        max_ns: figure(text, "Slowest:", answers)?,
        measured: Some(answers),
        requests: Some(answers.saturating_add(errors.failed).saturating_add(errors.aborted)),
        failed: Some(errors.failed),
        rate_per_second: Some(STDOUT.rate(line, rate)?),
        ..Claims::silent(LatencyFrom::Send)
    };
    Ok(ToolReport { notes: errors.notes(), ..ToolReport::from_claims(claims) })
}

/// Parses a figure; `None` if nothing was measured. oha then prints NaN or infinity.
fn figure(text: &str, label: &str, measured: u64) -> Result<Option<u64>, ParseError> {
    let (line, value) = STDOUT.require(None, label, find_labelled(text, label))?;
    if measured == 0 { Ok(None) } else { time(line, value).map(Some) }
}

/// Parses lines such as `50.00% in 10.5236 ms`.
fn quantiles(text: &str) -> Result<Vec<ClaimedQuantile>, ParseError> {
    let lines = numbered_lines(text).filter_map(|(line, content)| Some((line, content.split_once("% in ")?)));
    let quantile = |(line, (percent, value)): (u64, (&str, &str))| {
        let q = STDOUT.require(line, "percentage between 0 and 100", units::quantile(percent))?;
        Ok(ClaimedQuantile { q, value_ns: time(line, value)?, printed: true })
    };
    STDOUT.check_ascending(lines.map(quantile).collect::<Result<_, _>>()?)
}

fn time(line: u64, text: &str) -> Result<u64, ParseError> {
    Ok(STDOUT.require(line, format_args!("time in '{text}'"), units::duration(text))?.0)
}
