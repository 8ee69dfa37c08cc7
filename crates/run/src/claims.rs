//! Results that another tool states about its own run.

use serde::{Deserialize, Serialize};

/// Start of the latency that a tool reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyFrom {
    /// The request was sent: the latency is a service time, even if the tool calls it a response time.
    Send,
    /// The request should have been sent: the latency is a response time.
    Intended,
    /// The request was sent, and the tool later added requests to the histogram that it never sent.
    BackFilled,
}

/// One quantile as the tool states it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClaimedQuantile {
    /// The quantile, 0 < q < 1.
    pub q: f64,
    /// Value in nanoseconds, as coarse as the tool printed it.
    pub value_ns: u64,
    /// True if the tool printed it, false if it was computed from the tool's samples or histogram.
    pub printed: bool,
}

/// Results that another tool states about its own run, unchecked. Figures that it does not state are `None`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Claims {
    /// Start of the latency.
    pub latency_from: LatencyFrom,
    /// Latency quantiles, ascending.
    pub quantiles: Vec<ClaimedQuantile>,
    /// Mean latency, nanoseconds.
    pub mean_ns: Option<u64>,
    /// Maximum latency, nanoseconds.
    pub max_ns: Option<u64>,
    /// Number of requests in the latencies.
    pub measured: Option<u64>,
    /// Number of requests that the tool says it made, answered or not.
    pub requests: Option<u64>,
    /// Number of failed requests. The meaning of "failed" differs from tool to tool.
    pub failed: Option<u64>,
    /// Number of answers with an error status (from 400 on), if the tool counts them apart from failed requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_answers: Option<u64>,
    /// Number of requests that the tool says it should have made and did not.
    pub dropped: Option<u64>,
    /// Requests per second.
    pub rate_per_second: Option<f64>,
}

impl Claims {
    /// Returns claims without any figure.
    pub const fn silent(latency_from: LatencyFrom) -> Claims {
        Claims {
            latency_from,
            quantiles: Vec::new(),
            mean_ns: None,
            max_ns: None,
            measured: None,
            requests: None,
            failed: None,
            error_answers: None,
            dropped: None,
            rate_per_second: None,
        }
    }

    /// Returns the claimed value of quantile `q`; `None` if the tool does not state it.
    pub fn quantile(&self, q: f64) -> Option<ClaimedQuantile> {
        at(&self.quantiles, q)
    }
}

/// Meaning of one value in a tool's distribution of gaps between tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapMeaning {
    /// The gap from one event to the next.
    Event,
    /// The mean gap of an answer.
    Answer,
}

/// Results that another tool states about streamed answers, by its own definitions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamClaims {
    /// Quantiles of the tool's time to the first token, ascending.
    pub first: Vec<ClaimedQuantile>,
    /// Maximum time to the first token, nanoseconds.
    pub first_max_ns: Option<u64>,
    /// Number of answers in that time; `None` if the tool does not say.
    pub measured: Option<u64>,
    /// Quantiles of the gaps between tokens, ascending; empty if the tool states none.
    pub gaps: Vec<ClaimedQuantile>,
    /// Longest gap, nanoseconds.
    pub gap_max_ns: Option<u64>,
    /// Meaning of one value of `gaps`.
    pub gap_of: GapMeaning,
}

impl StreamClaims {
    /// Returns quantile `q` of the time to the first token.
    pub fn first_at(&self, q: f64) -> Option<ClaimedQuantile> {
        at(&self.first, q)
    }

    /// Returns quantile `q` of the gaps.
    pub fn gap_at(&self, q: f64) -> Option<ClaimedQuantile> {
        at(&self.gaps, q)
    }
}

fn at(quantiles: &[ClaimedQuantile], q: f64) -> Option<ClaimedQuantile> {
    quantiles.iter().copied().find(|claimed| (claimed.q - q).abs() < 1e-9)
}
