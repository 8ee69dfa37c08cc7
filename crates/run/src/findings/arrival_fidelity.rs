//! Comparison of the actual arrivals of a run with its schedule.

use serde::{Deserialize, Serialize};

/// Comparison of the actual arrivals with the planned ones.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ArrivalFidelity {
    /// Issued arrivals: the denominator of all shares.
    pub issued: u64,
    /// Share of arrivals that started within 1 ms of their intended start.
    pub within_1ms: f64,
    /// Mean gap between planned arrivals.
    pub mean_gap_ns: u64,
    /// Share of arrivals that started within a tenth of the mean gap of their intended start.
    pub within_tenth_of_gap: f64,
    /// Arrivals that the generator itself delayed by more than a mean gap and more than 1 ms.
    pub displaced_by_generator: u64,
    /// Comparison of the gaps; `None` unless every single request was kept.
    pub gaps: Option<Gaps>,
    /// Evenness of the arrivals over time.
    pub dispersion: Option<Dispersion>,
}

/// Gaps between actual starts, compared with those between intended starts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Gaps {
    /// Number of gaps.
    pub count: u64,
    /// Largest difference between the two distribution functions, in [0, 1]. Gaps within the tolerance count as equal.
    pub distance: f64,
    /// A tenth of the mean gap.
    pub tolerance_ns: u64,
    /// Test of the gaps, for a schedule with exponential gaps.
    pub exponential: Option<Exponential>,
}

/// Gaps on the time scale on which the rate is 1, compared with the exponential distribution (Kolmogorov–Smirnov).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Exponential {
    /// Distance of the intended starts: chance in this sample of the schedule.
    pub planned_distance: f64,
    /// Distance of the actual starts.
    pub actual_distance: f64,
    /// Distance that exponential gaps exceed in one sample of twenty.
    pub critical_distance: f64,
}

/// Variance divided by mean of the counts in windows of equal length: 0 for even spacing, 1 for a Poisson process, more
/// for bursts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Dispersion {
    /// Length of a window.
    pub window_ns: u64,
    /// Dispersion of the intended starts.
    pub planned: f64,
    /// Dispersion of the actual starts.
    pub actual: f64,
}
