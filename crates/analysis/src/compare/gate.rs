//! Conditions under which a comparison fails: `p99 worse than 5%`.

use std::fmt;
use std::str::FromStr;

use truetail_run::{GateFinding, GateState};

use crate::figures::quantile_name;
use crate::gates::quantile_and_share;
use crate::support::QUANTILES;

use super::quantiles::{Comparison, QuantileComparison};

/// A condition under which a comparison fails: a quantile of B is worse than that of A by more than a share.
#[derive(Clone, PartialEq, Debug)]
pub struct CompareGate {
    text: String,
    q: f64,
    share: f64,
}

/// Error for a text that is not a valid condition: one line, which quotes the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompareGateError(String);

impl fmt::Display for CompareGateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CompareGateError {}

impl FromStr for CompareGate {
    type Err = CompareGateError;

    fn from_str(text: &str) -> Result<CompareGate, CompareGateError> {
        let malformed = || {
            CompareGateError(format!(
                "'{}' is not a condition; write PERCENTILE worse than SHARE, such as 'p99 worse than 5%'",
                text.trim()
            ))
        };
        let (q, share) = quantile_and_share(text, "worse than").ok_or_else(malformed)?;
        if !QUANTILES.contains(&q) || q >= 1.0 {
            return Err(not_compared(text.trim()));
        }
        Ok(CompareGate { text: text.trim().to_owned(), q, share })
    }
}

fn not_compared(text: &str) -> CompareGateError {
    let names: Vec<_> = QUANTILES.iter().filter(|q| **q < 1.0).map(|q| quantile_name(*q)).collect();
    CompareGateError(format!(
        "'{text}' names a percentile that is not compared; the ones that are: {}",
        names.join(", ")
    ))
}

impl fmt::Display for CompareGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl CompareGate {
    /// Returns the quantile that the condition is about.
    pub fn q(&self) -> f64 {
        self.q
    }

    /// Decides the condition: fails if the whole interval of the ratio is beyond the limit, holds if none of it is.
    pub fn judge(&self, comparison: &Comparison) -> GateFinding {
        let compared = comparison.at(self.q);
        let limit = 1.0 + self.share;
        let state = match compared.map(|found| (found.ratio_low, found.ratio_high)) {
            Some((Some(low), _)) if low > limit => GateState::Fails,
            Some((_, Some(high))) if high <= limit => GateState::Holds,
            _ => GateState::Open,
        };
        GateFinding {
            text: self.text.clone(),
            state,
            value_ns: None,
            limit_ns: None,
            value: compared.and_then(|found| found.ratio).map(|ratio| ratio - 1.0),
            limit: Some(self.share),
            message: message(compared, comparison.confidence, state),
        }
    }
}

fn message(compared: Option<&QuantileComparison>, confidence: f64, state: GateState) -> String {
    let Some(QuantileComparison { ratio: Some(ratio), ratio_low, ratio_high, .. }) = compared else {
        return "no interval: a run is too short for this percentile, or too many of its requests had no answer"
            .to_owned();
    };
    let [low, high] = [ratio_low, ratio_high].map(|end| end.map_or("unknown".to_owned(), change));
    let measured = format!("measured {}, {} interval {low} … {high}", change(*ratio), percent(confidence));
    match state {
        GateState::Holds | GateState::Fails => measured,
        GateState::Open => format!("{measured}; more or longer runs narrow it"),
    }
}

/// `95 %` for 0.95, and `98.75 %` for 0.9875.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

/// `+4.2 %` for a ratio of 1.042.
fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if percent.abs() >= 1000.0 { format!("× {ratio:.1}") } else { format!("{percent:+.1} %") }
}
