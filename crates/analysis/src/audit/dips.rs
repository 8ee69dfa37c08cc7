//! Dips: stretches with fewer starts than usual, because slow requests hold the client up. A dip shows even if starts
//! are known only to the second, or if some users keep sending. A silence does not.

use truetail_model::time::Nanos;

use super::axis::Axis;
use super::steps::{Step, Steps};

const MAX_STEPS: u64 = 256;
/// Each step has room for at least this many starts at the mean rate.
const STARTS_A_STEP: f64 = 20.0;
/// Number of steps on each side that show the usual rate.
const SIDE_STEPS: usize = 8;
/// A step is low if it has less than this share of the usual starts …
const LOW_SHARE: f64 = 0.85;
/// … and lies this many standard deviations below them.
const LOW_SIGMA: f64 = 4.0;
/// Largest ratio between the rates before and after a dip.
const SIDES_AGREE: f64 = 1.5;
/// The slowest request lasts at least this share of the time that the missing starts would have taken …
const COVERED: f64 = 0.5;
/// … and this many times the median duration.
const SLOW_FACTOR: f64 = 2.0;
/// Largest share of slow requests, relative to the number that an open loop would have had in flight.
const FEW_SLOW: f64 = 0.25;
/// Concurrency stays below this multiple of the concurrency around the dip.
const SAME_CONCURRENCY: f64 = 1.25;

#[derive(Clone, Copy, Debug)]
pub(super) struct Dip {
    pub(super) from: u64,
    pub(super) length: Nanos,
    pub(super) missing: f64,
    /// Size of the shortfall in standard deviations.
    pub(super) sigma: f64,
    /// Longest duration of a request near the dip, in nanoseconds.
    pub(super) longest: u64,
    /// Usual rate around the dip, in starts per second.
    pub(super) rate: f64,
}

impl Dip {
    /// Time that the missing starts would have taken at the usual rate, as a share of the longest request.
    pub(super) fn cover(&self) -> f64 {
        self.missing / self.rate / (self.longest.max(1) as f64 / 1e9)
    }
}

/// Finds the dips of a run. `resolution` is the resolution of the starts in nanoseconds. If at least as many stretches
/// with few starts are not dips, the client makes its own pauses, and the list is empty.
pub(super) fn dips(axis: &Axis<'_>, resolution: u64) -> Vec<Dip> {
    let Some(steps) = steps(axis, resolution) else { return Vec::new() };
    let usual: Vec<Option<Usual>> = (0..steps.steps.len()).map(|index| usual(&steps.steps, index)).collect();
    let is_low = |index: usize| usual[index].is_some_and(|usual| usual.is_low(&steps.steps[index]));
    let mut found = Vec::new();
    let mut others = 0;
    let mut at = 0;
    while at < steps.steps.len() {
        let end = (at..steps.steps.len()).find(|index| !is_low(*index)).unwrap_or(steps.steps.len());
        if end > at
            && let Some(usual) = usual[at]
        {
            match dip(axis, &steps, (at, end), &usual) {
                Some(dip) => found.push(dip),
                None => others += 1,
            }
        }
        at = end.max(at) + 1;
    }
    if found.len() > others { found } else { Vec::new() }
}

fn steps(axis: &Axis<'_>, resolution: u64) -> Option<Steps> {
    let whole = axis.total_time();
    let for_starts = (STARTS_A_STEP * whole as f64 / axis.total().max(1) as f64) as u64;
    let width = (whole / MAX_STEPS).max(for_starts).max(axis.events.width() * 4);
    let steps = Steps::divide(axis, width, resolution)?;
    // The first and last step are incomplete.
    (steps.steps.len() > SIDE_STEPS).then_some(steps)
}

#[derive(Clone, Copy, Debug)]
struct Usual {
    starts: f64,
    sigma: f64,
    busy: f64,
}

impl Usual {
    fn is_low(&self, step: &Step) -> bool {
        step.starts < LOW_SHARE * self.starts && self.starts - step.starts > LOW_SIGMA * self.sigma
    }
}

/// Usual values around a step: the lower of the median rates before and after it.
fn usual(steps: &[Step], index: usize) -> Option<Usual> {
    let inner = 1..steps.len().saturating_sub(1);
    if !inner.contains(&index) {
        return None;
    }
    let before = &steps[index.saturating_sub(SIDE_STEPS).max(1)..index];
    let after = &steps[index + 1..(index + 1 + SIDE_STEPS).min(inner.end)];
    let left = median(before, |step| step.starts)?;
    let right = median(after, |step| step.starts)?;
    if left.max(right) > SIDES_AGREE * left.min(right) {
        return None;
    }
    let starts = left.min(right);
    // For a normal distribution, the standard deviation is 1.4826 times the median absolute deviation.
    let spread =
        median(before, |step| (step.starts - left).abs())?.max(median(after, |step| (step.starts - right).abs())?);
    let busy = median(before, |step| step.concurrency)?.max(median(after, |step| step.concurrency)?);
    Some(Usual { starts, sigma: (1.4826 * spread).max(starts.sqrt()), busy })
}

fn median(steps: &[Step], of: impl Fn(&Step) -> f64) -> Option<f64> {
    let mut values: Vec<f64> = steps.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    (values.len() >= 3).then(|| values[values.len() / 2])
}

fn dip(axis: &Axis<'_>, steps: &Steps, (from, to): (usize, usize), usual: &Usual) -> Option<Dip> {
    let within = &steps.steps[from..to];
    let count = within.len() as f64;
    let missing = usual.starts * count - within.iter().map(|step| step.starts).sum::<f64>();
    let busy = within.iter().map(|step| step.concurrency).sum::<f64>() / count;
    let begins = (steps.first + from as u64) * steps.width;
    let length = count as u64 * steps.width;
    let rate = usual.starts / (steps.width as f64 / 1e9);
    // The slow requests may have started one step earlier.
    let blocks = axis.blocks;
    let first = blocks.index_of(begins.saturating_sub(steps.width));
    let last = blocks.index_of(begins + length);
    let near = &blocks.cells()[first..=last];
    let longest = near.iter().map(|block| block.longest).max()?;
    let slow: u64 = near.iter().map(|block| block.at_least(longest / 2)).sum();
    let typical = axis.typical_duration([(0, axis.bins()), (0, 0)])?;
    let seconds = longest as f64 / 1e9;
    let is_covered = seconds >= COVERED * missing / rate && longest as f64 >= SLOW_FACTOR * typical as f64;
    let are_few = (slow as f64) <= FEW_SLOW * rate * seconds / 2.0;
    let is_held = busy <= SAME_CONCURRENCY * usual.busy.max(1.0);
    (is_covered && are_few && is_held).then_some(Dip {
        from: begins,
        length: Nanos(length),
        missing,
        sigma: missing / (usual.sigma * count.sqrt()),
        longest,
        rate,
    })
}
