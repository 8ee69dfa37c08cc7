//! What another tool said of its own run.

use serde::{Deserialize, Serialize};

/// From which instant on a tool counts its latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyFrom {
    /// The moment at which the request was sent: a service time, whatever the tool calls it.
    Send,
    /// The moment at which it should have been sent: a response time.
    Intended,
    /// The moment of sending, and the histogram was filled afterwards with requests that never were.
    BackFilled,
}

/// One quantile as the tool states it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClaimedQuantile {
    /// Which quantile, 0 < q < 1.
    pub q: f64,
    /// Its value, nanoseconds, as coarse as the tool printed it.
    pub value_ns: u64,
    /// The tool printed it; otherwise it was computed from the tool's own samples or histogram.
    pub printed: bool,
}

/// What another tool said of its own run. Nothing here was checked, and nothing was filled in: what the tool does not
/// say is `None`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Claims {
    /// What its latency starts from.
    pub latency_from: LatencyFrom,
    /// Its quantiles, ascending.
    pub quantiles: Vec<ClaimedQuantile>,
    /// Its mean, nanoseconds.
    pub mean_ns: Option<u64>,
    /// Its maximum, nanoseconds.
    pub max_ns: Option<u64>,
    /// How many requests are in its latencies.
    pub measured: Option<u64>,
    /// How many requests it says it made, answered or not.
    pub requests: Option<u64>,
    /// How many of them it says failed; what that means differs from tool to tool.
    pub failed: Option<u64>,
    /// How many requests it says it should have made and did not.
    pub dropped: Option<u64>,
    /// Requests a second, as it says.
    pub rate_per_second: Option<f64>,
}

impl Claims {
    /// Nothing said but where the latency starts.
    pub const fn silent(latency_from: LatencyFrom) -> Claims {
        Claims {
            latency_from,
            quantiles: Vec::new(),
            mean_ns: None,
            max_ns: None,
            measured: None,
            requests: None,
            failed: None,
            dropped: None,
            rate_per_second: None,
        }
    }

    /// The claimed value of quantile `q`, nanoseconds; `None` where the tool does not say.
    pub fn quantile(&self, q: f64) -> Option<ClaimedQuantile> {
        at(&self.quantiles, q)
    }
}

/// What one value is of what a tool says of the gaps between tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapOf {
    /// The gap from one event to the next.
    Event,
    /// The mean gap of an answer.
    Answer,
}

/// What another tool said of answers that come in pieces, by its own definitions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamClaims {
    /// What it calls the time to the first token: quantiles, ascending.
    pub first: Vec<ClaimedQuantile>,
    /// The largest, nanoseconds.
    pub first_max_ns: Option<u64>,
    /// How many answers are in it; `None` where the tool does not say.
    pub measured: Option<u64>,
    /// What it says of the gaps between tokens, ascending; empty where it says nothing.
    pub gaps: Vec<ClaimedQuantile>,
    /// The largest, nanoseconds.
    pub gap_max_ns: Option<u64>,
    /// What one value of `gaps` is.
    pub gap_of: GapOf,
}

impl StreamClaims {
    /// Quantile `q` of the time to the first token, nanoseconds.
    pub fn first_at(&self, q: f64) -> Option<ClaimedQuantile> {
        at(&self.first, q)
    }

    /// Quantile `q` of the gaps, nanoseconds.
    pub fn gap_at(&self, q: f64) -> Option<ClaimedQuantile> {
        at(&self.gaps, q)
    }
}

fn at(quantiles: &[ClaimedQuantile], q: f64) -> Option<ClaimedQuantile> {
    quantiles.iter().copied().find(|claimed| (claimed.q - q).abs() < 1e-9)
}
