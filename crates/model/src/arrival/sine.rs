//! A rate that swings about its mean.

use std::f64::consts::TAU;

use super::RateProfile;
use crate::time::Nanos;

/// λ(t) = m + d·sin(2πt/P) with mean m = (low + high)/2 and amplitude d = (high − low)/2, rising first.
///
/// L(t) = m·t + d·P/(2π)·(1 − cos(2πt/P)). It has no closed inverse. L is monotone (d ≤ m) and its derivative λ is
/// known, so Newton's method finds the inverse. If a step leaves the known bounds, which happens near a rate of zero,
/// a step of bisection replaces it.
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

impl Sine {
    /// Returns L(t) and λ(t).
    fn count_and_rate(&self, seconds: f64) -> (f64, f64) {
        let mean = self.mean();
        let amplitude = self.amplitude();
        let period = self.period.as_secs_f64();
        // The phase is reduced first, so that a long run keeps the precision of a short one.
        let (sin, cos) = libm::sincos(TAU * (libm::fmod(seconds, period) / period));
        (mean * seconds + amplitude * period / TAU * (1.0 - cos), mean + amplitude * sin)
    }
}

/// Maximum number of steps: bisection needs fewer to reach the last bit of an `f64`.
const MAX_STEPS: usize = 200;

impl RateProfile for Sine {
    fn cumulative(&self, seconds: f64) -> f64 {
        self.count_and_rate(seconds).0
    }

    fn inverse(&self, count: f64) -> Option<f64> {
        // 0 ≤ L(t) − m·t ≤ d·P/π bounds the solution on both sides, apart from the last bits.
        let at_mean = count / self.mean();
        let swing = self.amplitude() * self.period.as_secs_f64() * 2.0 / TAU / self.mean();
        let mut low = (at_mean - swing).max(0.0) * (1.0 - 1e-12);
        let mut high = at_mean * (1.0 + 1e-12);
        let mut t = low + (high - low) / 2.0;
        for _ in 0..MAX_STEPS {
            let (reached, rate) = self.count_and_rate(t);
            if reached < count {
                low = t
            } else {
                high = t
            }
            let newton = t - (reached - count) / rate;
            if (newton - t).abs() <= 4.0 * f64::EPSILON * t {
                return Some(newton);
            }
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                break;
            }
            t = if newton > low && newton < high { newton } else { middle };
        }
        Some(high)
    }

    fn peak_per_second(&self) -> f64 {
        self.high_per_second
    }
}
