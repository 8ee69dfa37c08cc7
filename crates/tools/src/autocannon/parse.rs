//! Parser of `autocannon -j`: one JSON value with latencies in whole milliseconds, and no single requests.

use std::collections::BTreeMap;

use serde::Deserialize;
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use crate::output_reader::OutputReader;
use crate::{ParseError, ToolOutput, ToolReport, units};

pub(super) const NAME: &str = "autocannon";
pub(super) const TESTED: &str = "9.0.0";
const STDOUT: OutputReader = OutputReader::stdout(NAME, TESTED);

#[derive(Deserialize)]
struct Document {
    latency: Latency,
    requests: Requests,
    /// Includes timeouts.
    errors: u64,
    timeouts: u64,
    non2xx: u64,
}

/// Latencies in milliseconds.
#[derive(Deserialize)]
struct Latency {
    average: f64,
    max: f64,
    #[serde(rename = "totalCount")]
    total_count: u64,
    /// Percentiles such as `p97_5`, and other figures.
    #[serde(flatten)]
    others: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Requests {
    average: f64,
    total: u64,
    sent: u64,
}

/// Parses the JSON. Rejects the result of a run with a rate, because its histogram is back-filled.
pub(super) fn parse(output: &ToolOutput) -> Result<ToolReport, ParseError> {
    if output.stdout.trim_ascii().is_empty() {
        return Err(STDOUT.no_result(output, "result of autocannon"));
    }
    let document: Document = STDOUT.json(&output.stdout)?;
    if document.is_back_filled() {
        return Err(refused(&document));
    }
    read(&document)
}

/// Parses the JSON of any run, even if autocannon back-filled its histogram.
pub(crate) fn result_file(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    read(&STDOUT.json(bytes)?)
}

fn read(document: &Document) -> Result<ToolReport, ParseError> {
    let latency_from = if document.is_back_filled() { LatencyFrom::BackFilled } else { LatencyFrom::Send };
    let mut claims = Claims {
        measured: Some(document.latency.total_count),
        requests: Some(document.requests.sent),
        failed: Some(document.errors.saturating_add(document.non2xx)),
        rate_per_second: Some(document.requests.average).filter(|rate| rate.is_finite()),
        ..Claims::silent(latency_from)
    };
    let mut notes = Vec::new();
    let broken = document.errors.saturating_sub(document.timeouts);
    if broken > 0 && document.latency.total_count > 0 {
        notes.push(format!(
            "{broken} errors that are not timeouts: after a reset, autocannon assigns later answers to other \
             requests, so its latencies mean nothing and are left out"
        ));
    } else if document.latency.total_count > 0 {
        claims.quantiles = quantiles(&document.latency)?;
        claims.mean_ns = Some(time(document.latency.average)?);
        claims.max_ns = Some(time(document.latency.max)?);
    }
    Ok(ToolReport { notes, ..ToolReport::from_claims(claims) })
}

impl Document {
    /// Returns true if the histogram is back-filled. With a rate and without `-C`, autocannon records each sample again
    /// at 1 ms less, 2 ms less and so on, regardless of the rate.
    fn is_back_filled(&self) -> bool {
        self.latency.total_count > self.requests.total
    }
}

fn refused(document: &Document) -> ParseError {
    let latencies = document.latency.total_count;
    let answers = document.requests.total;
    let what = format!(
        "{latencies} latencies for {answers} answers: autocannon added some with a wrong interval, as it does with -R; \
         add --ignoreCoordinatedOmission"
    );
    STDOUT.error(1, what)
}

fn quantiles(latency: &Latency) -> Result<Vec<ClaimedQuantile>, ParseError> {
    let named =
        latency.others.iter().filter_map(|(name, value)| Some((name.strip_prefix('p')?.replace('_', "."), value)));
    let quantile = |(percent, value): (String, &f64)| {
        let q = STDOUT.require(None, format_args!("percentage in p{percent}"), units::quantile(&percent))?;
        Ok(ClaimedQuantile { q, value_ns: time(*value)?, printed: true })
    };
    let mut quantiles = named.map(quantile).collect::<Result<Vec<_>, _>>()?;
    quantiles.sort_by(|a, b| a.q.total_cmp(&b.q));
    STDOUT.check_ascending(quantiles)
}

fn time(millis: f64) -> Result<u64, ParseError> {
    let time = units::nanos(millis, 1e6);
    Ok(STDOUT.require(None, format_args!("time of 0 ms or more ({millis})"), time)?.0)
}
