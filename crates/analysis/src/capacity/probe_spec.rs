//! A probe that a search asks for, and its result.

use serde::{Deserialize, Serialize};
use truetail_model::time::Nanos;

use super::answer::Answer;

/// Purpose of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To find a bracket.
    Bracket,
    /// To narrow the bracket.
    Refine,
    /// To prove the upper end, coming from a higher rate.
    ConfirmUpper,
    /// To prove the lower end, coming from a lower rate.
    ConfirmLower,
}

impl Purpose {
    /// Returns true if the answer proves an end of the bracket. Other probes only help to choose the next rate.
    pub fn proves(self) -> bool {
        match self {
            Purpose::ConfirmUpper | Purpose::ConfirmLower => true,
            Purpose::Bracket | Purpose::Refine => false,
        }
    }
}

/// A probe to make.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProbeSpec {
    /// Requests per second.
    pub rate: f64,
    /// Purpose of the probe.
    pub purpose: Purpose,
    /// One-sided error probability of the answer.
    pub level: f64,
    /// Length at the first look.
    pub shortest: Nanos,
    /// Length at which the time of the probe is up.
    pub longest: Nanos,
}

/// A finished probe.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct FinishedProbe {
    /// The requested probe.
    pub trial: ProbeSpec,
    /// Answer of the probe.
    pub answer: Answer,
    /// Share of bad requests divided by the allowed share, if known.
    pub ratio: Option<f64>,
}
