//! Where the time went, with the times that the service reported.

use serde::{Deserialize, Serialize};

/// Times that the service reported under one name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportedPart {
    /// Name in the service's header.
    pub name: String,
    /// Number of answers with the time, among the requests that the run keeps.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Longest.
    pub max_ns: u64,
    /// Quantiles that the number of answers supports.
    pub quantiles: Vec<PartQuantile>,
    /// Answers whose reported time is longer than their whole service time, which is impossible.
    pub longer_than_service: u64,
}

/// Quantile of a reported time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartQuantile {
    /// From 0 to 1.
    pub q: f64,
    /// Its value.
    pub value_ns: u64,
}

/// The parts of the response times around one quantile. They add up to `response_time_ns`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LedgerRow {
    /// The quantile, from 0 to 1. The row is about the answers within half a per cent of its rank.
    pub q: f64,
    /// Number of these answers, among the requests that the run keeps.
    pub requests: u64,
    /// Answers among them with a reported time.
    pub reported: u64,
    /// Mean of their response times.
    pub response_time_ns: f64,
    /// The parts, in the order in which they are spent as far as that is known.
    pub parts: Vec<LedgerPart>,
}

/// A part of a response time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LedgerPart {
    /// `generator lag`, `connection wait`, `connecting`, the name of a reported time, or `unattributed`.
    pub name: String,
    /// Mean over the answers of the row, without the parts inside it. Negative if the service reports more time than
    /// passed.
    pub mean_ns: f64,
    /// Lower end of the 95 % interval of the mean; null for a single answer.
    pub low_ns: Option<f64>,
    /// Upper end.
    pub high_ns: Option<f64>,
}
