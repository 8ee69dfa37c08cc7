//! How well the arrivals of a run followed its schedule.

use serde::{Deserialize, Serialize};

/// How the actual arrivals compare with the planned ones.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ArrivalFidelity {
    /// Issued arrivals: the denominator of all shares.
    pub issued: u64,
    /// The share that started within 1 ms of its intended start.
    pub within_1ms: f64,
    /// The mean gap between planned arrivals.
    pub mean_gap_ns: u64,
    /// The share that started within a tenth of the mean gap of its intended start.
    pub within_tenth_of_gap: f64,
    /// Arrivals that the generator itself delayed by more than a mean gap and more than 1 ms.
    pub displaced_by_generator: u64,
    /// The gaps; `None` unless every single request was kept.
    pub gaps: Option<Gaps>,
    /// How evenly the arrivals are spread over time.
    pub dispersion: Option<Dispersion>,
}

/// The gaps between actual starts, compared with those between intended starts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Gaps {
    /// How many.
    pub count: u64,
    /// The largest difference of their two distribution functions, in [0, 1], where gaps that differ by no more than the
    /// tolerance count as equal.
    pub distance: f64,
    /// A tenth of the mean gap.
    pub tolerance_ns: u64,
    /// For a schedule with exponential gaps: a test of the gaps.
    pub exponential: Option<Exponential>,
}

/// Gaps on the time scale on which the rate is 1, compared with the exponential distribution (Kolmogorov–Smirnov).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Exponential {
    /// The largest difference for the intended starts: chance in this sample of the schedule.
    pub planned_distance: f64,
    /// The largest difference for the actual starts.
    pub actual_distance: f64,
    /// The distance that exponential gaps exceed in one sample of twenty.
    pub critical_distance: f64,
}

/// Variance divided by mean of the counts in windows of equal length: 0 for even spacing, 1 for a Poisson process, more
/// for bursts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Dispersion {
    /// How long a window is.
    pub window_ns: u64,
    /// Of the intended starts.
    pub planned: f64,
    /// Of the actual starts.
    pub actual: f64,
}
