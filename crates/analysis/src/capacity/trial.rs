//! A probe that a search asks for, and what became of it.

use serde::{Deserialize, Serialize};
use truetail_model::time::Nanos;

use super::answer::Answer;

/// Why a rate is probed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To find a bracket.
    Bracket,
    /// To narrow it.
    Refine,
    /// To prove its upper end, coming from a higher rate.
    ConfirmUpper,
    /// To prove its lower end, coming from a lower rate.
    ConfirmLower,
}

impl Purpose {
    /// Its answer proves an end of the bracket; others only say where to probe next.
    pub fn proves(self) -> bool {
        match self {
            Purpose::ConfirmUpper | Purpose::ConfirmLower => true,
            Purpose::Bracket | Purpose::Refine => false,
        }
    }
}

/// A probe to make.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Trial {
    /// Requests per second.
    pub rate: f64,
    /// Why.
    pub purpose: Purpose,
    /// The one-sided error probability of its answer.
    pub level: f64,
    /// The length at the first look.
    pub shortest: Nanos,
    /// The length at which its time is up.
    pub longest: Nanos,
}

/// A probe that was made.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Probed {
    /// What was asked for.
    pub trial: Trial,
    /// What it says.
    pub answer: Answer,
    /// The share of bad requests divided by the share that is allowed, if it is known.
    pub ratio: Option<f64>,
}
