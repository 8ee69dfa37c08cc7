//! What a probe says.

use serde::{Deserialize, Serialize};

/// What a probe says of its rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The service keeps all objectives at this rate.
    Meets,
    /// It misses one of them, or its backlog grows.
    Misses,
    /// The probe ended before either was shown.
    Open,
    /// The generator spoilt the probe, so it says nothing of the service.
    GeneratorLimit,
}
