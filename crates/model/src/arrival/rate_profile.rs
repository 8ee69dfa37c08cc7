//! What every rate profile can do.

/// A rate over time, given by its integral, which is what a schedule needs.
pub trait RateProfile {
    /// L(t): arrivals expected from 0 to `seconds` ≥ 0. Not decreasing, and 0 at 0.
    fn cumulative(&self, seconds: f64) -> f64;

    /// The first t in seconds with L(t) ≥ `count` ≥ 0; `None` where L never gets there. At a pause (rate 0) arrival
    /// `count` comes when the pause is over.
    fn inverse(&self, count: f64) -> Option<f64>;

    /// The highest rate, requests/s: for sizing, not for arithmetic.
    fn peak_per_second(&self) -> f64;
}
