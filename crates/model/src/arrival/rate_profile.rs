//! Interface of a rate profile.

/// A rate over time, given by its integral L(t).
pub trait RateProfile {
    /// Returns L(t), the arrivals expected from 0 to `seconds` ≥ 0. Not decreasing, and 0 at 0.
    fn cumulative(&self, seconds: f64) -> f64;

    /// Returns the first t in seconds with L(t) ≥ `count` ≥ 0, after any pause (rate 0); `None` if there is no such t.
    fn inverse(&self, count: f64) -> Option<f64>;

    /// Returns the highest rate in requests/s. It is for sizing, not for arithmetic.
    fn peak_per_second(&self) -> f64;
}
