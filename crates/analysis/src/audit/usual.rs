//! Usual behaviour around a stretch of time: the rate of starts before and after it, their variability, and the
//! duration of requests.

use super::axis::{Axis, Span};

/// Fewest starts on each side that show a usual rate.
const FEWEST_STARTS: u64 = 8;
/// Each side reaches as far as this many starts take at the mean rate of the run …
const USUAL_STARTS: u64 = 64;
/// … and at least this many times the length of the stretch.
const USUAL_LENGTHS: u64 = 4;
/// Number of parts of each side, used to measure the variability of the number of starts.
const PARTS: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
    /// Starts per second on the slower side.
    pub(super) rate: f64,
    /// Starts per second on the busier side.
    pub(super) high_rate: f64,
    /// Variance of the number of starts over its mean, at least 1. A Poisson process has 1.
    pub(super) dispersion: f64,
    /// Median duration in nanoseconds.
    pub(super) duration: u64,
    /// Bins that show the usual behaviour before the stretch.
    pub(super) before: (usize, usize),
}

/// Returns the usual behaviour before bin `before` and from bin `after` on. `None` if a side has too few starts.
pub(super) fn usual(axis: &Axis<'_>, span: Span, before: usize, after: usize) -> Option<Usual> {
    let mean_rate = axis.total() as f64 / axis.total_time().max(1) as f64;
    let reach = (USUAL_STARTS as f64 / mean_rate).max(span.length() as f64 * USUAL_LENGTHS as f64) as u64;
    let from = axis.first_bin_within(before, reach);
    let to = axis.first_bin_after(after, reach);
    let left = side(axis, from, before)?;
    let right = side(axis, after, to)?;
    Some(Usual {
        rate: left.rate.min(right.rate),
        high_rate: left.rate.max(right.rate),
        dispersion: left.dispersion.min(right.dispersion).max(1.0),
        duration: axis.typical_duration([(from, before), (after, to)])?,
        before: (from, before),
    })
}

struct Side {
    rate: f64,
    dispersion: f64,
}

fn side(axis: &Axis<'_>, from: usize, to: usize) -> Option<Side> {
    let count = axis.starts_between(from, to);
    let time = axis.time_between(from, to);
    if count < FEWEST_STARTS || time == 0 {
        return None;
    }
    let part = (time / PARTS as u64).max(1);
    let mut at = from;
    let mut squares = 0.0;
    let mut parts = 0.0;
    while at < to {
        let next = axis.first_bin_after(at, part).clamp(at + 1, to);
        let expected = count as f64 * axis.time_between(at, next) as f64 / time as f64;
        if expected > 0.0 {
            squares += (axis.starts_between(at, next) as f64 - expected).powi(2) / expected;
            parts += 1.0;
        }
        at = next;
    }
    let dispersion = if parts > 1.0 { squares / (parts - 1.0) } else { 1.0 };
    Some(Side { rate: count as f64 / time as f64 * 1e9, dispersion })
}
