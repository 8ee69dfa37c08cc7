//! A rate that climbs or falls in a straight line, then stays.

use super::RateProfile;
use crate::time::Nanos;

/// λ(t) = a + (b − a)·t/T for t ≤ T, then b.
///
/// L(t) = a·t + (b − a)·t²/(2T) up to T, then L(T) + b·(t − T). The inverse avoids cancellation in the quadratic: t =
/// 2k / (a + √(a² + 2k(b − a)/T)).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ramp {
    /// a: requests/s at the start, ≥ 0.
    pub from_per_second: f64,
    /// b: requests/s at the end and after it, ≥ 0. At least one of the rates is above 0.
    pub to_per_second: f64,
    /// T: duration of the climb, above zero.
    pub over: Nanos,
}

impl Ramp {
    fn slope(&self) -> f64 {
        (self.to_per_second - self.from_per_second) / self.over.as_secs_f64()
    }

    fn count_at_end(&self) -> f64 {
        (self.from_per_second + self.to_per_second) / 2.0 * self.over.as_secs_f64()
    }
}

impl RateProfile for Ramp {
    fn cumulative(&self, seconds: f64) -> f64 {
        let over = self.over.as_secs_f64();
        if seconds <= over {
            self.from_per_second * seconds + self.slope() * seconds * seconds / 2.0
        } else {
            self.count_at_end() + self.to_per_second * (seconds - over)
        }
    }

    fn inverse(&self, count: f64) -> Option<f64> {
        if count == 0.0 {
            return Some(0.0);
        }
        let at_end = self.count_at_end();
        if count >= at_end && self.to_per_second == 0.0 {
            return None;
        }
        if count <= at_end {
            let a = self.from_per_second;
            let root = libm::sqrt((a * a + 2.0 * count * self.slope()).max(0.0));
            return Some((2.0 * count / (a + root)).min(self.over.as_secs_f64()));
        }
        Some(self.over.as_secs_f64() + (count - at_end) / self.to_per_second)
    }

    fn peak_per_second(&self) -> f64 {
        self.from_per_second.max(self.to_per_second)
    }
}
