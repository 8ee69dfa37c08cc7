//! What became of the conditions that the user set (`--fail-if`).

use serde::{Deserialize, Serialize};

/// Whether the service passed a gate; from best to worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateState {
    /// It passed: the condition under which the run would fail is not met.
    Holds,
    /// The run can show neither.
    Open,
    /// It did not pass.
    Fails,
}

/// A gate, and what the run says of it. Times and limits of times are in nanoseconds, shares in [0, 1], rates per second.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GateFinding {
    /// As the user wrote it: `p99 > 50ms`.
    pub text: String,
    /// Did the service pass?
    pub state: GateState,
    /// The value of a time; `None` where it has none, or where the metric is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_ns: Option<u64>,
    /// The limit of a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ns: Option<u64>,
    /// The value of what is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The limit of what is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// What was measured, and for an open gate what would close it.
    pub message: String,
}
