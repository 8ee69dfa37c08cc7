//! The levels of a run's response time: which stretches of it are alike, and where one ends and the next begins.
//!
//! # Method
//!
//! The run is a [`MedianSeries`] of medians: a value a second (or so), the natural logarithm of the median response time of the
//! arrivals intended in it. The median does not see an event that meets fewer than half of the arrivals of its second, and
//! the logarithm makes a factor out of every difference.
//!
//! 1. A running median, which leaves steps as they are, removes what lasts a moment: a stall, a pause.
//! 2. How much a mean of these values moves by itself is estimated as their long-run standard deviation ([`noise`]): a busy
//!    queue stays busy for a while, so neighbours are alike, and a test that takes them for independent sees changes
//!    everywhere.
//! 3. The series is cut into the levels that fit best, by least squares with a penalty for each ([`partition()`]).
//! 4. Neighbours that differ by less than [`SHIFT_SHARE`] are one level, and so is what lies around an event that passes:
//!    a stretch of less than [`EVENT_SHARE`] of the run after which the old level is back (the classes of Barrett et al.,
//!    "Virtual Machine Warmup Blows Hot and Cold", OOPSLA 2017, who join levels that are practically equal before they
//!    judge).
//! 5. Where there is more than one level, the cut is done again with what a drift does to the noise left out, so that a
//!    slow climb is seen from its beginning to its end, and the ends are trimmed to what is within the band of its level.

mod median;
mod median_series;
mod noise;
mod partition;

use median::{deviation, median, running_median};
pub(crate) use median_series::MedianSeries;

/// Two levels that differ by less than this share are the same: what saturation takes for "slower" too. A server under
/// constant load is rarely steadier for a minute, and few decisions depend on less.
pub(crate) const SHIFT_SHARE: f64 = 0.20;
/// A stretch that lasts less than this share of the run, and after which the old level is back, is an event.
pub(crate) const EVENT_SHARE: f64 = 0.10;
/// … or less than this, in nanoseconds, however short the run.
const EVENT_NS: u64 = 2_000_000_000;
/// A level has at least this many values: the median of three is the first that one value cannot move.
const SHORTEST: usize = 3;
/// The penalty for a level, in units of the long-run variance times ln n. Schwarz's criterion has 2 for values that are
/// independent, and whose variance is known; here it is estimated from a few blocks. Chosen by the false alarms of healthy
/// queues: see `docs/steady-state.md`.
const PENALTY: f64 = 5.0;
/// The same where a change is already certain, and only its place is looked for.
const PENALTY_TO_PLACE: f64 = 4.0;
/// A median moves by this much though nothing happens: the resolution of clocks, of schedulers and of histograms.
const LEAST_NOISE: f64 = 0.02;
/// Values within this many standard deviations of a level belong to it when its ends are trimmed …
const BAND: f64 = 2.5;
/// … and those within this share of it always do.
const BAND_SHARE: f64 = 0.10;

/// Values at the beginning of the only level that are this many standard deviations away from it are a cold start.
const FAR: f64 = 4.0;

/// A stretch of values that are alike.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Level {
    /// The first value, counted from 0.
    pub(crate) from: usize,
    /// Behind the last value.
    pub(crate) to: usize,
    /// Their median: a natural logarithm of nanoseconds.
    pub(crate) ln: f64,
}

impl Level {
    fn of(values: &[f64], from: usize, to: usize) -> Level {
        Level { from, to, ln: median(values[from..to].to_vec()) }
    }
}

/// Do two levels differ by less than [`SHIFT_SHARE`]?
pub(crate) fn alike(a: f64, b: f64) -> bool {
    (a - b).abs() < libm::log1p(SHIFT_SHARE)
}

/// The levels of a series, in order. One level, of all values, where nothing changes. The first and the last level are
/// trimmed: between them and their neighbours may be values on the way.
///
/// # Panics
/// When the series is empty.
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
    begins.zip(ends).map(|(from, to)| Level::of(values, from, *to)).collect()
}

/// Joins neighbours that are alike, the most alike first, and what an event parts.
fn joined(values: &[f64], mut levels: Vec<Level>, longest_event: f64) -> Vec<Level> {
    while let Some((first, last)) = most_alike(&levels).or_else(|| parted_by_event(&levels, longest_event)) {
        levels[first] = Level::of(values, levels[first].from, levels[last].to);
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

/// Two levels that are alike, with nothing but an event in between.
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

/// Leaves out, at the end of the first level and at the beginning of the last, what is outside of their bands.
fn trimmed(values: &[f64], mut levels: Vec<Level>) -> Vec<Level> {
    let last = levels.len() - 1;
    let first: Vec<f64> = values[levels[0].from..levels[0].to].iter().rev().copied().collect();
    levels[0] = Level::of(values, levels[0].from, levels[0].to - outside_band(&first));
    let outside = outside_band(&values[levels[last].from..levels[last].to]);
    levels[last] = Level::of(values, levels[last].from + outside, levels[last].to);
    levels
}

/// How many values at the beginning of a level, at most half of them, are outside of the band of the others.
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

/// How many values at the beginning of the only level of a series are far outside of it, if they are few: a cold start
/// that is too short to be a level.
pub(crate) fn cold_start(values: &[f64], level: &Level) -> usize {
    let far = (FAR * deviation(level.ln, values)).max(libm::log1p(SHIFT_SHARE));
    let cold = values.iter().take_while(|value| (**value - level.ln).abs() > far).count();
    if (cold as f64) < values.len() as f64 * EVENT_SHARE { cold } else { 0 }
}

#[cfg(test)]
mod tests;
