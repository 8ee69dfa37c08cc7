//! Upper bound on the share of requests that were not sent because of slow ones, for files that do not show stops.
//!
//! While all users wait for something slow, each has a slow request in flight. The share of time without any sending is
//! therefore at most the share of slow requests in the total duration of all requests.

use truetail_model::record::Histogram;
use truetail_run::Claims;

use super::axis::Axis;
use super::cells::Durations;

/// A request is slow if it takes more than this many medians.
const SLOW_FACTOR: u64 = 2;
/// If more than this share of the requests in flight in an open loop is slow, sending never stopped.
const OPEN_SHARE: f64 = 0.25;
/// A stretch no longer than this many times its slowest request holds at most one stall.
const ONE_STALL: u64 = 20;
/// Number of requests that a stretch needs before its own median counts as usual.
const FEWEST_BESIDE: u64 = 8;

fn slow(durations: &Histogram) -> u64 {
    durations.quantile(0.5).unwrap_or_default().0.saturating_mul(SLOW_FACTOR)
}

/// Returns the largest share of all requests that could be missing, independent of when the slow ones were sent.
pub(super) fn share(durations: &Histogram) -> f64 {
    let slow = slow(durations);
    let times = durations.buckets().filter(|(low, ..)| low.0 > slow).map(|(low, _, count)| low.0 as f64 * count as f64);
    share_of_all(times.sum(), durations)
}

/// Computes [`share`] from the quantiles and the length that a file states. Each request between two quantiles may have
/// taken as long as the higher one. Returns `None` if the file states too little.
pub(super) fn share_claimed(claims: &Claims) -> Option<f64> {
    let median = claims.quantile(0.5)?.value_ns;
    let per_request = claims.rate_per_second.filter(|rate| *rate > 0.0).map(|rate| 1e9 / rate);
    let mean = claims.mean_ns.map(|mean| mean as f64);
    let whole = per_request.unwrap_or(0.0).max(mean.unwrap_or(0.0));
    let slow = at_most_slow(claims, median.saturating_mul(SLOW_FACTOR))?;
    (whole > 0.0).then(|| slow.iter().map(|(share, value)| share * *value as f64).sum::<f64>() / whole)
}

/// Lists the ranges of quantiles above `slow` as (share of all requests, longest duration). `None` without a maximum.
pub(super) fn at_most_slow(claims: &Claims, slow: u64) -> Option<Vec<(f64, u64)>> {
    let ends = claims.quantiles.iter().map(|claimed| (claimed.q, claimed.value_ns)).chain([(1.0, claims.max_ns?)]);
    let begins = std::iter::once(0.0).chain(claims.quantiles.iter().map(|claimed| claimed.q));
    let stretches = begins.zip(ends).map(|(from, (to, value))| (to - from, value));
    Some(stretches.filter(|(_, value)| *value > slow).collect())
}

/// Computes [`share`] without slow requests that an open loop explains, and without requests of `visible` ns or more,
/// which show as a stop.
pub(super) fn share_unseen(axis: &Axis<'_>, durations: &Histogram, resolution: u64, visible: u64) -> f64 {
    let slow = slow(durations);
    let stretch = axis.blocks.width().max(resolution);
    let blocks: Vec<&Durations> = axis.blocks.cells().iter().filter(|block| block.count() > 0).collect();
    let hides = |index: usize| {
        let block = blocks[index];
        let beside = &blocks[index.saturating_sub(1)..(index + 2).min(blocks.len())];
        // The slow requests may have started before the stretch that holds most of them.
        let is_open = beside.iter().any(|near| is_open(near, stretch) && near.longest >= block.longest / 2);
        block.longest > slow && !is_open
    };
    let time = |index: usize| blocks[index].time_between(slow.max(slow_beside(blocks[index])), visible);
    share_of_all((0..blocks.len()).filter(|index| hides(*index)).map(time).sum(), durations)
}

/// Returns the slow threshold within `block`, so that a service that became slower for good hides nothing.
fn slow_beside(block: &Durations) -> u64 {
    let median = block.median().filter(|_| block.count() >= FEWEST_BESIDE);
    median.unwrap_or_default().saturating_mul(SLOW_FACTOR)
}

fn share_of_all(time: f64, durations: &Histogram) -> f64 {
    time / (durations.sum_ns() as f64).max(1.0)
}

/// Returns true if so large a share of a stretch is slow that the client must have kept sending meanwhile.
fn is_open(block: &Durations, stretch: u64) -> bool {
    let due = block.count() as f64 * block.longest as f64 / stretch as f64;
    let slow = block.at_least(block.longest / 2) as f64;
    stretch / ONE_STALL <= block.longest && slow > OPEN_SHARE * due / 2.0 && slow >= 4.0
}
