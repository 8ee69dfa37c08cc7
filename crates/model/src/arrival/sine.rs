//! A rate that swings about its mean.

use std::f64::consts::TAU;

use super::RateProfile;
use crate::time::Nanos;

/// λ(t) = m + d·sin(2πt/P) with mean m = (low + high)/2 and amplitude d = (high − low)/2: starts at the mean, rises
/// first, and stays within low and high.
///
/// L(t) = m·t + d·P/(2π)·(1 − cos(2πt/P)); the inverse is found by bisection to the last bit, because L is monotone
/// (d ≤ m) but has no closed inverse.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sine {
    /// The lowest rate, requests/s, ≥ 0.
    pub low_per_second: f64,
    /// The highest rate, requests/s, ≥ low and above zero.
    pub high_per_second: f64,
    /// P: period, above zero.
    pub period: Nanos,
}

impl Sine {
    /// m: requests/s, above zero.
    fn mean(&self) -> f64 {
        self.low_per_second + self.amplitude()
    }

    /// d: requests/s, 0 ≤ d ≤ m.
    fn amplitude(&self) -> f64 {
        (self.high_per_second - self.low_per_second) / 2.0
    }
}

impl RateProfile for Sine {
    fn cumulative(&self, seconds: f64) -> f64 {
        let period = self.period.as_secs_f64();
        // The phase is reduced first, so that a long run keeps the precision of a short one.
        let phase = libm::fmod(seconds, period) / period;
        self.mean() * seconds + self.amplitude() * period / TAU * (1.0 - libm::cos(TAU * phase))
    }

    fn inverse(&self, count: f64) -> Option<f64> {
        // 0 ≤ L(t) − m·t ≤ d·P/π bounds the solution on both sides.
        let mut high = count / self.mean();
        let swing = self.amplitude() * self.period.as_secs_f64() * 2.0 / TAU / self.mean();
        let mut low = (high - swing).max(0.0);
        loop {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                return Some(high);
            }
            if self.cumulative(middle) < count {
                low = middle;
            } else {
                high = middle;
            }
        }
    }

    fn peak_per_second(&self) -> f64 {
        self.high_per_second
    }
}
