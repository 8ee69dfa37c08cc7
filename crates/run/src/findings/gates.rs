//! Results of the conditions that the user set (`--fail-if`).

use serde::{Deserialize, Serialize};

/// Result of a gate; from best to worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateState {
    /// The gate passed: the condition that would fail the run is not met.
    Holds,
    /// The run is not conclusive.
    Open,
    /// The gate failed.
    Fails,
}

/// A gate and its result. Times and limits of times are in nanoseconds, shares in [0, 1], rates per second.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GateFinding {
    /// The gate as the user wrote it: `p99 > 50ms`.
    pub text: String,
    /// Result of the gate.
    pub state: GateState,
    /// Measured time; `None` if it has no value, or if the metric is not a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_ns: Option<u64>,
    /// Limit, if the metric is a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ns: Option<u64>,
    /// Measured value, if the metric is not a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Limit, if the metric is not a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Measured value in words. For an open gate, also what would close it.
    pub message: String,
}
