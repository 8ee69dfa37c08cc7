//! A constant rate.

use super::RateProfile;
use crate::time::Rate;

/// λ(t) = r, so L(t) = r·t.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Constant {
    /// The rate r.
    pub rate: Rate,
}

impl RateProfile for Constant {
    fn cumulative(&self, seconds: f64) -> f64 {
        seconds * self.rate.as_per_second()
    }

    fn inverse(&self, count: f64) -> Option<f64> {
        Some(count / self.rate.as_per_second())
    }

    fn peak_per_second(&self) -> f64 {
        self.rate.as_per_second()
    }
}
