//! What a closed-loop tool would have reported of the same server.

use serde::{Deserialize, Serialize};

/// What a closed-loop tool would have reported of the same server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClosedLoopShadow {
    /// Users who each wait for their answer and ask again at once.
    pub users: u32,
    /// Requests they would have made.
    pub requests: u64,
    /// Those among them without an answer, which such a tool counts as errors and leaves out of its quantiles.
    pub unanswered: u64,
    /// What it would have reported.
    pub quantiles: Vec<ShadowQuantile>,
    /// The run's requests were known one in this many.
    pub one_in: u64,
    /// Shorter events are blurred, or missed: the time that the requests span which stand for one instant.
    pub resolution_ns: u64,
}

/// One quantile of a shadow.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShadowQuantile {
    /// In [0, 1].
    pub q: f64,
    /// What would have been reported; `None` where the shadow has too few requests to carry it.
    pub value_ns: Option<u64>,
    /// The run's own response time at this quantile over it; `None` where either is no number.
    pub omission_factor: Option<f64>,
    /// The run's own is only known from below, and so is the factor.
    pub at_least: bool,
    /// What the factor is at least, as several such tools would have found it; `None` where `omission_factor` is. A
    /// closed loop leaves something out where this is above 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omission_low: Option<f64>,
    /// What it is at most; `None` where `omission_factor` is, and where the run's own is only known from below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omission_high: Option<f64>,
}
