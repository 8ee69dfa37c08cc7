//! Dips: stretches in which fewer requests start than before and after, because slow ones hold the client up. Seen in coarser
//! steps than a silence, so also where the starts are known to a second only, or some of the users go on.

use truetail_model::time::Nanos;

use super::axis::Axis;
use super::steps::{Step, Steps};

/// So many steps divide a run, at most.
const MAX_STEPS: u64 = 256;
/// In each step at least so many starts are usual.
const STARTS_A_STEP: f64 = 20.0;
/// So many steps on each side show what is usual.
const SIDE: usize = 8;
/// A step is low if it has less than this share of the usual starts …
const LOW_SHARE: f64 = 0.85;
/// … and is so many standard deviations below.
const LOW_SIGMA: f64 = 4.0;
/// The rates before and after differ by at most this factor.
const SIDES_AGREE: f64 = 1.5;
/// The slowest request lasts at least this share of the time for which starts are missing …
const COVERED: f64 = 0.5;
/// … and so many times what is usual.
const SLOW_FACTOR: f64 = 2.0;
/// Of the requests that an open loop would have had in flight, at most this share may be slow: the others were not sent.
const FEW_SLOW: f64 = 0.25;
/// Concurrency stays below this multiple of what it is beside the dip.
const SAME_CONCURRENCY: f64 = 1.25;

/// One dip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dip {
    /// When it begins, nanoseconds.
    pub(super) from: u64,
    /// How long it is.
    pub(super) length: Nanos,
    /// Starts that were to be expected, and are not there.
    pub(super) missing: f64,
    /// How many standard deviations that is.
    pub(super) sigma: f64,
    /// The longest duration of a request in it, nanoseconds.
    pub(super) longest: u64,
    /// The rate beside it, a second.
    pub(super) rate: f64,
}

impl Dip {
    /// For how long the missing starts would have lasted at the usual rate, as a share of the longest request.
    pub(super) fn cover(&self) -> f64 {
        self.missing / self.rate / (self.longest.max(1) as f64 / 1e9)
    }
}

/// Finds the dips of a run. `resolution` is that of the starts, nanoseconds. None are found where as many have another reason:
/// then the client makes pauses of its own.
pub(super) fn dips(axis: &Axis<'_>, resolution: u64) -> Vec<Dip> {
    let Some(steps) = steps(axis, resolution) else { return Vec::new() };
    let usual: Vec<Option<Usual>> = (0..steps.steps.len()).map(|index| usual(&steps.steps, index)).collect();
    let is_low = |index: usize| usual[index].is_some_and(|usual| usual.is_low(&steps.steps[index]));
    let (mut found, mut others) = (Vec::new(), 0);
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
    let steps = Steps::of(axis, width, resolution)?;
    // The first and the last step are not whole.
    (steps.steps.len() > SIDE).then_some(steps)
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

/// What is usual beside a step: the lesser median of the steps before and after it.
fn usual(steps: &[Step], index: usize) -> Option<Usual> {
    let inner = 1..steps.len().saturating_sub(1);
    if !inner.contains(&index) {
        return None;
    }
    let before = &steps[index.saturating_sub(SIDE).max(1)..index];
    let after = &steps[index + 1..(index + 1 + SIDE).min(inner.end)];
    let (left, right) = (median(before, |step| step.starts)?, median(after, |step| step.starts)?);
    if left.max(right) > SIDES_AGREE * left.min(right) {
        return None;
    }
    let starts = left.min(right);
    // The median of the deviations is a quarter of the way out on each side: 1.4826 of it is a standard deviation.
    let spread =
        median(before, |step| (step.starts - left).abs())?.max(median(after, |step| (step.starts - right).abs())?);
    let busy = median(before, |step| step.busy)?.max(median(after, |step| step.busy)?);
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
    let busy = within.iter().map(|step| step.busy).sum::<f64>() / count;
    let begins = (steps.first + from as u64) * steps.width;
    let length = count as u64 * steps.width;
    let rate = usual.starts / (steps.width as f64 / 1e9);
    // What is slow may have started a step earlier.
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
