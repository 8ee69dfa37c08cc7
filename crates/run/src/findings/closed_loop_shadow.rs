//! Report that a closed-loop tool would have made about the same server.

use serde::{Deserialize, Serialize};

/// Report that a closed-loop tool would have made about the same server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClosedLoopShadow {
    /// Number of users. Each waits for its answer and sends again at once.
    pub users: u32,
    /// Number of requests that these users would have sent.
    pub requests: u64,
    /// Number of these requests without an answer. Such a tool counts them as errors and omits them from its quantiles.
    pub unanswered: u64,
    /// Quantiles that the tool would have reported.
    pub quantiles: Vec<ShadowQuantile>,
    /// One in this many requests of the run was kept and used.
    pub one_in: u64,
    /// Time spanned by the requests that represent one instant. Shorter events are blurred or missed.
    pub resolution_ns: u64,
}

/// One quantile of a shadow.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShadowQuantile {
    /// The quantile, in [0, 1].
    pub q: f64,
    /// Value that the tool would have reported; `None` if the shadow has too few requests for it.
    pub value_ns: Option<u64>,
    /// The run's own response time at this quantile divided by `value_ns`; `None` if either is unknown.
    pub omission_factor: Option<f64>,
    /// True if the run's own value is only a lower bound. The factor is then a lower bound too.
    pub at_least: bool,
    /// Lower bound of the factor over several such tools; `None` if `omission_factor` is. Above 1, omission is proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omission_low: Option<f64>,
    /// Upper bound of the factor; `None` if `omission_factor` is, or if the run's own value is only a lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omission_high: Option<f64>,
}
