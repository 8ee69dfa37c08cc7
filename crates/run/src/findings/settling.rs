//! Findings about the steadiness of the response time.

use serde::{Deserialize, Serialize};

/// Steadiness of the response time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettlingState {
    /// Unknown: the run is too short, or its load changes.
    NotJudged,
    /// The response time stays at one level from the start.
    Steady,
    /// The response time stays at one level after a warm-up that can be cut off.
    Settles,
    /// The response time does not settle, or only for too short a part of the run.
    Unsettled,
}

/// Steadiness of the response time, and the end of the warm-up.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Settling {
    /// Steadiness of the response time.
    pub state: SettlingState,
    /// A sentence: the result, or the reason why there is no result.
    pub why: String,
    /// End of the warm-up, in whole seconds from the origin, if there is a warm-up.
    pub cut_ns: Option<u64>,
    /// Measured arrivals intended before `cut_ns`; `None` without a cut.
    pub cut_arrivals: Option<u64>,
    /// The lasting change of level, if there is one.
    pub shift: Option<Shift>,
}

/// A change of the level, that is the median, of the response time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shift {
    /// End of the first level, from the origin.
    pub at_ns: u64,
    /// Start of the last level, from the origin; equals `at_ns` for a sudden change.
    pub until_ns: u64,
    /// The first level; `None` without an answer.
    pub from_ns: Option<u64>,
    /// The last level; `None` without an answer.
    pub to_ns: Option<u64>,
    /// The lowest level in between or at the ends; `None` without an answer.
    pub lowest_ns: Option<u64>,
    /// The highest level in between or at the ends; `None` without an answer.
    pub highest_ns: Option<u64>,
}
