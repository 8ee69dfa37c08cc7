//! The levels of a run's response time: stretches of the run with a similar response time.
//!
//! # Method
//!
//! The run is a [`MedianSeries`]: one value per second (or so), the natural logarithm of the median response time of
//! the arrivals intended in that second. The median ignores an event that affects fewer than half of the arrivals of
//! its second, and the logarithm turns every difference into a factor.
//!
//! 1. A running median, which leaves steps unchanged, removes what lasts a moment: a stall, a pause.
//! 2. The long-run standard deviation of these values estimates how much their mean varies by chance ([`noise`]). A
//!    busy queue stays busy for a while, so a test that assumes independent neighbours sees changes everywhere.
//! 3. The series is cut into the levels that fit best, by least squares with a penalty for each
//!    ([`partition::partition`]).
//! 4. Neighbours that differ by less than [`SHIFT_SHARE`] are joined into one level. So are equal levels around an
//!    event: a stretch of less than [`EVENT_SHARE`] of the run. (Barrett et al., "Virtual Machine Warmup Blows Hot and
//!    Cold", OOPSLA 2017, also join practically equal levels before they judge.)
//! 5. If more than one level remains, the series is cut again. This time the noise excludes a drift, so that a slow
//!    climb is seen from beginning to end. Then the first and last level are trimmed to their bands.

mod median;
mod median_series;
mod noise;
mod partition;

use median::{deviation, median, running_median};
pub(crate) use median_series::MedianSeries;

/// Two levels that differ by less than this share are the same. Saturation uses the same factor for "slower". A server
/// under constant load is rarely steadier for a minute, and few decisions depend on less.
pub(crate) const SHIFT_SHARE: f64 = 0.20;
/// A stretch that lasts less than this share of the run, and after which the old level is back, is an event.
pub(crate) const EVENT_SHARE: f64 = 0.10;
/// A stretch shorter than this many nanoseconds is also an event, however short the run.
const EVENT_NS: u64 = 2_000_000_000;
/// Minimum number of values of a level: the median of three is the first that one value cannot move.
const SHORTEST: usize = 3;
/// The penalty for a level, in units of the long-run variance times ln n. Schwarz's criterion has 2 for independent
/// values with a known variance. Here the variance is estimated from a few blocks. The value was chosen by the false
/// alarms of healthy queues: see `docs/steady-state.md`.
const PENALTY: f64 = 5.0;
/// The penalty when a change is already certain and only its place is unknown.
const PENALTY_TO_PLACE: f64 = 4.0;
/// Minimum noise of a median: the resolution of clocks, of schedulers and of histograms.
const LEAST_NOISE: f64 = 0.02;
/// Values within this many standard deviations of a level belong to it when its ends are trimmed …
const BAND: f64 = 2.5;
/// … and values within this share of the level always do.
const BAND_SHARE: f64 = 0.10;

/// Values at the beginning of the only level that are this many standard deviations away from it are a cold start.
const FAR: f64 = 4.0;

/// A stretch of values that are alike.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Level {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Median of the values: a natural logarithm of nanoseconds.
    pub(crate) ln: f64,
}

impl Level {
    fn new(values: &[f64], from: usize, to: usize) -> Level {
        Level { from, to, ln: median(values[from..to].to_vec()) }
    }
}

/// Returns true if two levels differ by less than [`SHIFT_SHARE`].
pub(crate) fn alike(a: f64, b: f64) -> bool {
    (a - b).abs() < libm::log1p(SHIFT_SHARE)
}

/// Returns the levels of a series, in order: a single level of all values if nothing changes. The first and the last
/// level are trimmed, so there may be values in transition between them and their neighbours.
///
/// # Panics
/// If the series is empty.
pub(crate) fn levels(series: &MedianSeries) -> Vec<Level> {
    let values = &series.values;
    let n = values.len();
    let smooth = running_median(values, (n / 40).max(2));
    let longest_event = (n as f64 * EVENT_SHARE).max(EVENT_NS as f64 / series.width_ns as f64);
    let cut = |variance: f64, penalty: f64| {
        let penalty = penalty * variance.max(LEAST_NOISE * LEAST_NOISE) * libm::log(n as f64);
        let ends = partition::partition(&smooth, penalty, SHORTEST);
        joined(values, from_ends(values, &ends), longest_event)
    };
    let variance = noise::long_run_variance(&smooth);
    let coarse = cut(variance, PENALTY);
    if coarse.len() == 1 {
        return coarse;
    }
    let fine = cut(variance.min(noise::long_run_variance_beside_trend(&smooth)), PENALTY_TO_PLACE);
    trimmed(values, if fine.len() > 1 { fine } else { coarse })
}

fn from_ends(values: &[f64], ends: &[usize]) -> Vec<Level> {
    let begins = std::iter::once(0).chain(ends.iter().copied());
    begins.zip(ends).map(|(from, to)| Level::new(values, from, *to)).collect()
}

/// Joins neighbours that are alike, the most alike first, and levels that an event separates.
fn joined(values: &[f64], mut levels: Vec<Level>, longest_event: f64) -> Vec<Level> {
    while let Some((first, last)) = most_alike(&levels).or_else(|| parted_by_event(&levels, longest_event)) {
        levels[first] = Level::new(values, levels[first].from, levels[last].to);
        levels.drain(first + 1..=last);
    }
    levels
}

fn most_alike(levels: &[Level]) -> Option<(usize, usize)> {
    let apart = |i: &usize| (levels[i + 1].ln - levels[*i].ln).abs();
    let pairs = 0..levels.len() - 1;
    let closest = pairs.min_by(|i, j| apart(i).total_cmp(&apart(j)))?;
    alike(levels[closest].ln, levels[closest + 1].ln).then_some((closest, closest + 1))
}

/// Returns two levels that are alike and separated only by an event.
fn parted_by_event(levels: &[Level], longest_event: f64) -> Option<(usize, usize)> {
    (0..levels.len()).find_map(|first| {
        let others = levels.iter().enumerate().skip(first + 2);
        let near = |other: &Level| ((other.from - levels[first].to) as f64) < longest_event;
        others
            .take_while(|(_, other)| near(other))
            .find(|(_, other)| alike(other.ln, levels[first].ln))
            .map(|(last, _)| (first, last))
    })
}

/// Removes the values outside the band at the end of the first level and at the beginning of the last.
fn trimmed(values: &[f64], mut levels: Vec<Level>) -> Vec<Level> {
    let last = levels.len() - 1;
    let first: Vec<f64> = values[levels[0].from..levels[0].to].iter().rev().copied().collect();
    levels[0] = Level::new(values, levels[0].from, levels[0].to - outside_band(&first));
    let outside = outside_band(&values[levels[last].from..levels[last].to]);
    levels[last] = Level::new(values, levels[last].from + outside, levels[last].to);
    levels
}

/// Counts the values at the beginning of a level, at most half of them, that are outside the band of the others.
fn outside_band(values: &[f64]) -> usize {
    let mut left_out = 0;
    loop {
        let rest = &values[left_out..];
        let level = median(rest.to_vec());
        let band = (BAND * deviation(level, rest)).max(libm::log1p(BAND_SHARE));
        let more = rest.iter().take_while(|value| (**value - level).abs() > band).count();
        left_out = (left_out + more).min(values.len() / 2);
        if more == 0 || left_out == values.len() / 2 {
            return left_out;
        }
    }
}

/// Returns the length of a cold start in a series with one level: the number of values at its beginning that are far
/// from the level. Returns 0 if they are too many for a cold start.
pub(crate) fn cold_start(values: &[f64], level: &Level) -> usize {
    let far = (FAR * deviation(level.ln, values)).max(libm::log1p(SHIFT_SHARE));
    let cold = values.iter().take_while(|value| (**value - level.ln).abs() > far).count();
    if (cold as f64) < values.len() as f64 * EVENT_SHARE { cold } else { 0 }
}

#[cfg(test)]
mod tests;
