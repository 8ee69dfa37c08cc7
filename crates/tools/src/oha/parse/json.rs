//! Parser of oha's `--output-format json`: times in seconds, null if unknown.

use std::collections::BTreeMap;

use serde::Deserialize;
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use super::common::{Errors, STDOUT};
use crate::{ParseError, ToolReport, units};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    summary: Summary,
    latency_percentiles: BTreeMap<String, Option<f64>>,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    slowest: Option<f64>,
    average: Option<f64>,
    requests_per_sec: f64,
}

pub(super) fn parse(bytes: &[u8]) -> Result<ToolReport, ParseError> {
    let document: Document = STDOUT.json(bytes)?;
    let answers = document.status_code_distribution.values().fold(0u64, |sum, count| sum.saturating_add(*count));
    let is_error = |status: &str| status.parse::<u16>().is_ok_and(|status| status >= 400);
    let with_error = document.status_code_distribution.iter().filter(|(status, _)| is_error(status));
    let error_answers = with_error.fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
    let mut errors = Errors::default();
    document.error_distribution.iter().for_each(|(what, count)| errors.add(what, *count));
    let claims = Claims {
        quantiles: quantiles(&document.latency_percentiles)?,
        mean_ns: document.summary.average.map(time).transpose()?,
        max_ns: document.summary.slowest.map(time).transpose()?,
        measured: Some(answers),
        requests: Some(answers.saturating_add(errors.failed).saturating_add(errors.aborted)),
        failed: Some(errors.failed),
        error_answers: Some(error_answers),
        rate_per_second: Some(document.summary.requests_per_sec).filter(|rate| rate.is_finite()),
        ..Claims::silent(LatencyFrom::Send)
    };
    Ok(ToolReport { notes: errors.notes(), ..ToolReport::from_claims(claims) })
}

/// Parses entries such as `"p99.9": 0.022350986`; null if nothing was measured.
fn quantiles(named: &BTreeMap<String, Option<f64>>) -> Result<Vec<ClaimedQuantile>, ParseError> {
    let known = named.iter().filter_map(|(name, value)| Some((name, (*value)?)));
    let quantile = |(name, value): (&String, f64)| {
        let q = name.strip_prefix('p').and_then(units::quantile);
        let q = STDOUT.require(None, format_args!("percentage in {name}"), q)?;
        Ok(ClaimedQuantile { q, value_ns: time(value)?, printed: true })
    };
    let mut quantiles = known.map(quantile).collect::<Result<Vec<_>, _>>()?;
    quantiles.sort_by(|a, b| a.q.total_cmp(&b.q));
    STDOUT.check_ascending(quantiles)
}

fn time(seconds: f64) -> Result<u64, ParseError> {
    let time = units::nanos(seconds, 1e9);
    Ok(STDOUT.require(None, format_args!("time of 0 s or more ({seconds})"), time)?.0)
}
