//! How much slow requests could hide where stops do not show.
//!
//! While all users wait for something slow, each of them has a slow request in flight. The share of the time for which nothing
//! was sent is therefore at most that of slow requests in the time of all requests.

use truetail_model::record::Histogram;
use truetail_run::Claims;

use super::axis::Axis;
use super::cells::Durations;

/// A request is slow if it takes more than so many medians.
const SLOW_FACTOR: u64 = 2;
/// Of the requests that an open loop would have had in flight, more than this share are slow: so nobody waited to send them.
const OPEN_SHARE: f64 = 0.25;
/// One stretch holds one stall at most, if it is no longer than so many times the slowest request.
const ONE_STALL: u64 = 20;
/// So many requests show what is usual beside them.
const FEWEST_BESIDE: u64 = 8;

/// From which time on a request is slow.
fn slow(durations: &Histogram) -> u64 {
    durations.quantile(0.5).unwrap_or_default().0.saturating_mul(SLOW_FACTOR)
}

/// The share of all requests that could be missing at most, whenever the slow ones were sent.
pub(super) fn share(durations: &Histogram) -> f64 {
    let slow = slow(durations);
    let times = durations.buckets().filter(|(low, ..)| low.0 > slow).map(|(low, _, count)| low.0 as f64 * count as f64);
    of_all(times.sum(), durations)
}

/// The same from what a file states of its latencies and its length. Between two quantiles, each request may have taken as
/// long as the higher one. `None` where it does not say enough.
pub(super) fn share_claimed(claims: &Claims) -> Option<f64> {
    let median = claims.quantile(0.5)?.value_ns;
    let per_request = claims.rate_per_second.filter(|rate| *rate > 0.0).map(|rate| 1e9 / rate);
    let mean = claims.mean_ns.map(|mean| mean as f64);
    let whole = per_request.unwrap_or(0.0).max(mean.unwrap_or(0.0));
    let slow = at_most_slow(claims, median.saturating_mul(SLOW_FACTOR))?;
    (whole > 0.0).then(|| slow.iter().map(|(share, value)| share * *value as f64).sum::<f64>() / whole)
}

/// What share of all requests may have taken how long, of those above `slow`. `None` where the longest is not known.
pub(super) fn at_most_slow(claims: &Claims, slow: u64) -> Option<Vec<(f64, u64)>> {
    let ends = claims.quantiles.iter().map(|claimed| (claimed.q, claimed.value_ns)).chain([(1.0, claims.max_ns?)]);
    let begins = std::iter::once(0.0).chain(claims.quantiles.iter().map(|claimed| claimed.q));
    let stretches = begins.zip(ends).map(|(from, (to, value))| (to - from, value));
    Some(stretches.filter(|(_, value)| *value > slow).collect())
}

/// The same, less what an open loop shows and what takes at least `visible`, nanoseconds: that shows by itself.
pub(super) fn share_unseen(axis: &Axis<'_>, durations: &Histogram, resolution: u64, visible: u64) -> f64 {
    let slow = slow(durations);
    let stretch = axis.blocks.width().max(resolution);
    let blocks: Vec<&Durations> = axis.blocks.cells().iter().filter(|block| block.count() > 0).collect();
    let hides = |index: usize| {
        let block = blocks[index];
        let beside = &blocks[index.saturating_sub(1)..(index + 2).min(blocks.len())];
        // What is slow may have started before the stretch in which most of it did.
        let is_open = beside.iter().any(|near| is_open(near, stretch) && near.longest >= block.longest / 2);
        block.longest > slow && !is_open
    };
    let time = |index: usize| blocks[index].time_between(slow.max(slow_beside(blocks[index])), visible);
    of_all((0..blocks.len()).filter(|index| hides(*index)).map(time).sum(), durations)
}

/// What is slow among the requests beside it, so that a service which became slower for good hides nothing.
fn slow_beside(block: &Durations) -> u64 {
    let median = block.median().filter(|_| block.count() >= FEWEST_BESIDE);
    median.unwrap_or_default().saturating_mul(SLOW_FACTOR)
}

fn of_all(time: f64, durations: &Histogram) -> f64 {
    time / (durations.sum_ns() as f64).max(1.0)
}

/// So many requests are slow that they came in although others waited.
fn is_open(block: &Durations, stretch: u64) -> bool {
    let due = block.count() as f64 * block.longest as f64 / stretch as f64;
    let slow = block.at_least(block.longest / 2) as f64;
    stretch / ONE_STALL <= block.longest && slow > OPEN_SHARE * due / 2.0 && slow >= 4.0
}
