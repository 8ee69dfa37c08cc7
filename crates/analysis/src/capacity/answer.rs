//! Answers of a probe.

use serde::{Deserialize, Serialize};

/// Answer of a probe about its rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The service keeps all objectives at this rate.
    Meets,
    /// The service misses an objective, or its backlog grows.
    Misses,
    /// The probe ended undecided.
    Open,
    /// The generator spoilt the probe, so it says nothing about the service.
    GeneratorLimit,
}
