//! How a run went over time, and how far its arrivals were those that were planned. Values; `truetail-analysis` computes
//! them.

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

/// How the arrivals that happened compare with those that were planned.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ArrivalFidelity {
    /// Arrivals that were issued, which all shares are of.
    pub issued: u64,
    /// The share that started within 1 ms of its intended start.
    pub within_1ms: f64,
    /// The mean gap between planned arrivals.
    pub mean_gap_ns: u64,
    /// The share that started within a tenth of the mean gap of its intended start.
    pub within_tenth_of_gap: f64,
    /// Arrivals that the generator itself made late by more than a mean gap and more than 1 ms.
    pub displaced_by_generator: u64,
    /// The gaps, where every single request was kept.
    pub gaps: Option<Gaps>,
    /// How evenly the arrivals are spread over time.
    pub dispersion: Option<Dispersion>,
}

/// The gaps between starts against the gaps between intended starts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Gaps {
    /// How many.
    pub count: u64,
    /// The largest difference of their two distribution functions, in [0, 1], where gaps that differ by no more than the
    /// tolerance count as equal.
    pub distance: f64,
    /// A tenth of the mean gap.
    pub tolerance_ns: u64,
    /// Where the plan has exponential gaps: are they?
    pub exponential: Option<Exponential>,
}

/// Gaps on the clock on which the rate is 1, against the exponential distribution (Kolmogorov–Smirnov).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Exponential {
    /// The largest difference for the intended starts: what this sample of the plan is by itself.
    pub planned_distance: f64,
    /// The largest difference for the actual starts.
    pub actual_distance: f64,
    /// What exponential gaps exceed in one sample of twenty.
    pub critical_distance: f64,
}

/// Variance of the counts in windows of equal length over their mean: 0 for a metronome, 1 for a Poisson process, more
/// where arrivals come in bursts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Dispersion {
    /// How long a window is.
    pub window_ns: u64,
    /// Of the intended starts.
    pub planned: f64,
    /// Of the actual starts.
    pub actual: f64,
}

/// What a closed-loop tool would have reported of the same server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClosedLoopShadow {
    /// Users who each wait for their answer and ask again at once.
    pub users: u32,
    /// Requests they would have made.
    pub requests: u64,
    /// Those among them without an answer, which such a tool counts as errors and leaves out of its quantiles.
    pub unanswered: u64,
    /// What it would have reported.
    pub quantiles: Vec<ShadowQuantile>,
    /// The run's requests were known one in this many.
    pub one_in: u64,
    /// Shorter events are blurred, or missed: the time that the requests span which stand for one instant.
    pub resolution_ns: u64,
}

/// One quantile of a shadow.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShadowQuantile {
    /// In [0, 1].
    pub q: f64,
    /// What would have been reported; `None` where the shadow has too few requests to carry it.
    pub value_ns: Option<u64>,
    /// The run's own response time at this quantile over it; `None` where either is no number.
    pub omission_factor: Option<f64>,
    /// The run's own is only known from below, and so is the factor.
    pub at_least: bool,
}
