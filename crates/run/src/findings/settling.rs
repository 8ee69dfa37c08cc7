//! From when on the response time of a run is at one level.

use serde::{Deserialize, Serialize};

/// Does the response time settle, and from when on?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettlingState {
    /// It could not be told: the run is too short, or its load moves by itself.
    NotJudged,
    /// It is at one level from the beginning.
    Steady,
    /// It is at one level after a head that can be cut.
    Settles,
    /// It is not, or for too short a part of the run.
    Unsettled,
}

/// Where the response time settles.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Settling {
    /// Does it?
    pub state: SettlingState,
    /// A sentence: what was found, or why nothing could be.
    pub why: String,
    /// Where it settles after a head: the head ends here, at a whole second from the origin; else `None`.
    pub cut_ns: Option<u64>,
    /// Measured arrivals intended before the cut; `None` where there is none.
    pub cut_arrivals: Option<u64>,
    /// The change of level, where there is one that is no passing event.
    pub shift: Option<Shift>,
}

/// A change of the level of the response time, which is its median.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shift {
    /// Until here, from the origin, the level was the first one.
    pub at_ns: u64,
    /// From here on it was the last one; as `at_ns` where it changed at once.
    pub until_ns: u64,
    /// The first level; `None` where no answer came.
    pub from_ns: Option<u64>,
    /// The last level; `None` where no answer came.
    pub to_ns: Option<u64>,
    /// The lowest level in between or at the ends; `None` where no answer came.
    pub lowest_ns: Option<u64>,
    /// The highest level in between or at the ends; `None` where no answer came.
    pub highest_ns: Option<u64>,
}
