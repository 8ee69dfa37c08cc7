//! From when on the response time of a run stays at one level.

use serde::{Deserialize, Serialize};

/// Whether the response time settles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettlingState {
    /// Unknown: the run is too short, or its load changes.
    NotJudged,
    /// It stays at one level from the start.
    Steady,
    /// It stays at one level after a warm-up that can be cut off.
    Settles,
    /// It does not, or only for too short a part of the run.
    Unsettled,
}

/// Where the response time settles.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Settling {
    /// Whether it settles.
    pub state: SettlingState,
    /// A sentence: what was found, or why nothing was.
    pub why: String,
    /// The end of the warm-up, in whole seconds from the origin; `None` unless there is one.
    pub cut_ns: Option<u64>,
    /// Measured arrivals intended before the cut; `None` where there is none.
    pub cut_arrivals: Option<u64>,
    /// The lasting change of level, if there is one.
    pub shift: Option<Shift>,
}

/// A change of the level, that is the median, of the response time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shift {
    /// The first level held until this instant, from the origin.
    pub at_ns: u64,
    /// The last level held from this instant on; equals `at_ns` for a sudden change.
    pub until_ns: u64,
    /// The first level; `None` if there was no answer.
    pub from_ns: Option<u64>,
    /// The last level; `None` if there was no answer.
    pub to_ns: Option<u64>,
    /// The lowest level in between or at the ends; `None` if there was no answer.
    pub lowest_ns: Option<u64>,
    /// The highest level in between or at the ends; `None` if there was no answer.
    pub highest_ns: Option<u64>,
}
