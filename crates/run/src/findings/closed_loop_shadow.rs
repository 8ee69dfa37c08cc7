//! What a closed-loop tool would have reported about the same server.

use serde::{Deserialize, Serialize};

/// What a closed-loop tool would have reported about the same server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClosedLoopShadow {
    /// Users who each wait for their answer and send again at once.
    pub users: u32,
    /// Requests they would have sent.
    pub requests: u64,
    /// How many of them would have had no answer; such a tool counts these as errors and leaves them out of its quantiles.
    pub unanswered: u64,
    /// What it would have reported.
    pub quantiles: Vec<ShadowQuantile>,
    /// One in this many requests of the run was kept and used.
    pub one_in: u64,
    /// Events shorter than this are blurred or missed: the time spanned by the requests that stand for one instant.
    pub resolution_ns: u64,
}

/// One quantile of a shadow.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShadowQuantile {
    /// In [0, 1].
    pub q: f64,
    /// What would have been reported; `None` if the shadow has too few requests for it.
    pub value_ns: Option<u64>,
    /// The run's own response time at this quantile divided by it; `None` if either is not a number.
    pub omission_factor: Option<f64>,
    /// The run's own value is a lower bound, and so is the factor.
    pub at_least: bool,
    /// What the factor is at least, as several such tools would have found it; `None` where `omission_factor` is. A
    /// closed loop leaves something out where this is above 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omission_low: Option<f64>,
    /// What it is at most; `None` where `omission_factor` is, and where the run's own is only known from below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omission_high: Option<f64>,
}
