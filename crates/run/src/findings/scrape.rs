//! Comparison of the request times that a service published with the times of its users.

use serde::{Deserialize, Serialize};

/// Result of the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScrapeFinding {
    /// No percentile differs.
    Agrees,
    /// The service published shorter times than its users waited.
    Understates,
    /// The service published longer times than its users waited.
    Overstates,
    /// The numbers do not decide it, or are about other requests.
    CannotTell,
}

/// Comparison of one histogram or summary.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HistogramFinding {
    /// Percentiles that both sides have.
    pub quantiles: Vec<ServiceQuantile>,
    /// The result.
    pub finding: ScrapeFinding,
    /// The result in a sentence, with numbers and the reason.
    pub message: String,
}

/// Percentile of the service beside the one of its users.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ServiceQuantile {
    /// From 0 to 1.
    pub q: f64,
    /// Lower bound of the bucket that holds the percentile, or the value of a summary.
    pub low_ns: u64,
    /// Upper bound; null for the bucket of the longest times.
    pub high_ns: Option<u64>,
    /// Value that a dashboard shows: PromQL's `histogram_quantile` over the whole run, or the value of a summary.
    pub dashboard_ns: u64,
    /// Response time of the users; null if it falls among requests without an answer.
    pub users_ns: Option<u64>,
}
