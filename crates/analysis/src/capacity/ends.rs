//! Rates for the proof of both ends of a bracket.
//!
//! The time to prove an end depends on the square of its distance from the limit. Both ends are therefore as far from
//! the limit as the resolution allows. Without an estimate of the limit, they are the ends of the bracket.

use super::aim::ROUNDING;
use super::probe_spec::{ProbeSpec, Purpose};

/// Smallest distance of an end from the limit, as a part of the resolution. Small, because the limit is an estimate.
const CLOSEST: f64 = 0.2;
/// An end that did not hold moves out by at least this part of the resolution. A nearer end is harder to prove.
const FARTHER: f64 = 0.15;
/// Confirmations double in length at most this many times.
const MAX_LENGTHENINGS: u32 = 10;
/// Two ends within this part of the resolution are treated as the same.
const SAME: f64 = 0.05;

/// Outcome of the confirmations of both ends.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Confirmed {
    /// The last lower end that held.
    pub(super) proven: Option<f64>,
    /// The last upper end that held.
    pub(super) refuted: Option<f64>,
    /// Ends that have not held since the last time that confirmations became longer.
    pub(super) failed: Failed,
    /// Number of probes of an upper end.
    pub(super) uppers: u32,
    /// Number of probes of a lower end.
    pub(super) lowers: u32,
    /// Number of times that confirmations became longer.
    pub(super) lengthened: u32,
}

impl Confirmed {
    /// Records that the end probed by `trial` did not hold. If this leaves no room for other ends within `resolution`,
    /// confirmations become longer from now on. They may then be as near to the limit as before.
    pub(super) fn record_failure(&mut self, trial: &ProbeSpec, resolution: f64) {
        let Failed { lower, upper } = &mut self.failed;
        match trial.purpose {
            Purpose::ConfirmLower => *lower = Some(lower.map_or(trial.rate, |other| other.min(trial.rate))),
            _ => *upper = Some(upper.map_or(trial.rate, |other| other.max(trial.rate))),
        }
        if !self.failed.leaves_room(resolution) {
            self.failed = Failed::default();
            self.lengthened = (self.lengthened + 1).min(MAX_LENGTHENINGS);
        }
    }
}

/// The outermost ends that did not hold: the lowest lower end and the highest upper end.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Failed {
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
}

/// Ends of a search, as logarithms of rates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    low: f64,
    high: f64,
    limit: Option<f64>,
    /// Largest distance between two ends.
    width: f64,
    /// No lower end may be above this.
    ceiling: f64,
    /// No upper end may be below this.
    floor: f64,
}

impl Ends {
    /// Creates ends between the rates `lower`, which meets, and `top`, which misses. `limit` is a logarithm.
    pub(super) fn new(lower: f64, top: f64, limit: Option<f64>, resolution: f64, failed: Failed) -> Ends {
        let width = width(resolution);
        let ceiling = failed.lower.map_or(f64::INFINITY, |rate| rate.ln() - FARTHER * width);
        let floor = failed.upper.map_or(f64::NEG_INFINITY, |rate| rate.ln() + FARTHER * width);
        Ends { low: lower.ln(), high: top.ln(), limit, width, ceiling, floor }
    }

    pub(super) fn upper(&self) -> f64 {
        self.around().1.exp()
    }

    /// Returns the lower end for this upper end. `None` if it is too close to the limit and a better pair exists.
    pub(super) fn below(&self, upper: f64) -> Option<f64> {
        let (upper, exact) = (upper.ln(), upper.ln() - self.width);
        // In a narrow bracket, rates above its lower end are not known to meet.
        let lower = if self.is_narrow() { exact.min(self.low) } else { exact }.min(self.ceiling);
        let is_far = self.limit.is_none_or(|limit| limit - lower > CLOSEST * self.width);
        let is_best = is_far || self.around().1 >= upper - SAME * self.width;
        (is_best && upper - lower <= self.widest()).then(|| lower.exp())
    }

    /// Returns the upper end for this lower end. `None` if it is too close to the limit and a better pair exists.
    pub(super) fn above(&self, lower: f64) -> Option<f64> {
        let (lower, exact) = (lower.ln(), lower.ln() + self.width);
        let upper = if self.is_narrow() { exact.max(self.high) } else { exact }.max(self.floor);
        let is_far = self.limit.is_none_or(|limit| upper - limit > CLOSEST * self.width);
        let is_best = is_far || self.around().0 <= lower + SAME * self.width;
        (is_best && upper - lower <= self.widest()).then(|| upper.exp())
    }

    /// Returns both ends. The ends of a narrow bracket only move apart, because rates between them have been probed.
    fn around(&self) -> (f64, f64) {
        let (lower, upper) = match self.limit {
            Some(limit) if self.is_narrow() => {
                let slack = (self.width - (self.high - self.low)).max(0.0);
                let down = ((self.high + self.low) / 2.0 - limit + slack / 2.0).clamp(0.0, slack);
                (self.low - down, self.high + slack - down)
            }
            Some(limit) => (limit - self.width / 2.0, limit + self.width / 2.0),
            None => (self.low, self.high),
        };
        let up = (self.floor - upper).max(0.0);
        let down = (lower + up - self.ceiling).max(0.0);
        (lower + up - down, upper + up - down)
    }

    fn is_narrow(&self) -> bool {
        self.high - self.low <= self.widest()
    }

    /// Width that the caller asked for.
    fn widest(&self) -> f64 {
        self.width / (1.0 - ROUNDING)
    }
}

impl Failed {
    /// Returns true if there is room for ends farther out that are near enough to each other.
    fn leaves_room(&self, resolution: f64) -> bool {
        let (Some(lower), Some(upper)) = (self.lower, self.upper) else { return true };
        (upper / lower).ln() <= width(resolution) * (1.0 - 2.0 * FARTHER)
    }
}

/// Largest distance between the logarithms of two ends, with a margin for rounding.
fn width(resolution: f64) -> f64 {
    resolution.ln_1p() * (1.0 - ROUNDING)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(lower: f64, top: f64, limit: Option<f64>) -> Ends {
        Ends::new(lower, top, limit.map(f64::ln), 0.1, Failed::default())
    }

    #[test]
    fn the_limit_is_in_the_middle() {
        for (lower, top) in [(99.0, 101.0), (98.0, 104.0), (50.0, 200.0)] {
            let ends = ends(lower, top, Some(100.0));
            let upper = ends.upper();
            let lower = ends.below(upper).expect("far enough");
            assert!((upper / 100.0 - 100.0 / lower).abs() < 1e-9 && (1.09..1.1).contains(&(upper / lower)), "{ends:?}");
            assert!((ends.above(lower).expect("far enough") - upper).abs() < 1e-9);
        }
    }

    #[test]
    fn a_narrow_bracket_only_becomes_wider() {
        for limit in [90.5, 95.0, 98.5] {
            let ends = ends(90.0, 99.0, Some(limit));
            assert!((ends.upper() - 99.0).abs() < 1e-9, "{limit}");
            assert!(
                ends.below(99.0).is_some_and(|lower| (lower - 90.0).abs() < 1e-9),
                "{limit}: nothing better is known"
            );
        }
        let lopsided = ends(97.0, 101.0, Some(100.0));
        assert!((lopsided.upper() - 104.8).abs() < 0.1, "{lopsided:?}");
    }

    #[test]
    fn an_end_that_is_far_out_leaves_no_room_for_the_other() {
        let ends = ends(50.0, 200.0, Some(100.0));
        assert_eq!((ends.below(109.0), ends.above(92.0)), (None, None));
        assert!(ends.below(106.0).is_some_and(|lower| lower < 97.0));
    }

    #[test]
    fn ends_that_did_not_hold_are_followed_by_ends_farther_out() {
        for (lower, upper) in [(Some(98.0), None), (None, Some(104.0)), (Some(97.5), Some(103.0)), (Some(90.0), None)] {
            let failed = Failed { lower, upper };
            let ends = Ends::new(50.0, 200.0, Some(100_f64.ln()), 0.1, failed);
            let next = ends.upper();
            let below = ends.below(next).expect("there is room");
            assert!(failed.leaves_room(0.1) && next / below <= 1.1 + 1e-9, "{ends:?}");
            assert!(lower.is_none_or(|lower| below < lower * 0.99), "{ends:?}");
            assert!(upper.is_none_or(|upper| next > upper * 1.01), "{ends:?}");
        }
        assert!(!Failed { lower: Some(96.0), upper: Some(103.0) }.leaves_room(0.1));
    }

    #[test]
    fn without_a_limit_the_ends_are_those_of_the_bracket() {
        let ends = ends(95.0, 100.0, None);
        assert!((ends.upper() - 100.0).abs() < 1e-9);
        assert!(ends.below(ends.upper()).is_some_and(|lower| (90.0..=95.0).contains(&lower)));
    }
}
