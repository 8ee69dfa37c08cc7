//! How far pauses and late starts of the generator may have moved a percentile of a time of streams.
//!
//! If at most k of the values are wrong, the true value at rank r lies between the measured ones at r − k and r + k.
//! A pause changes times of the streams that are open during it. A late start makes the first event of its stream late
//! by the same time. So if m streams began later than l, a percentile of their first events is at least the value at
//! r − k − m, less l.
//!
//! Events that came during a pause are read at once, and the gaps between them have no value. Which gaps were lost like
//! this is not known. So after a pause all gaps without a value count as the smallest ones for the lower end, and as
//! the largest ones for the upper end, though not longer than the longest pause.

use truetail_model::record::{Histogram, Metric, rank_of};
use truetail_model::time::NANOS_PER_SECOND;
use truetail_run::{GeneratorStats, Pause, Run, StreamFacts, StreamKind};

use crate::streams::StreamMetric;

/// A pause changes at most the gap that ends with the first read after it, and the next one.
const CHANGED_IN_A_STREAM: u64 = 2;
/// Shares of the starts whose lag is tried as l.
const SHARES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 1.0];

/// Returns the bounds of quantile `q` in nanoseconds, if the generator took the times of all events. For gaps, no pause
/// may have changed one: see [`bounds_of_gap`].
pub(crate) fn bounds(run: &Run, streams: &StreamFacts, metric: StreamMetric, q: f64) -> (f64, f64) {
    let changed = changed_by_pauses(run, streams);
    let least = |wrong: u64| metric.least_at(streams, q, wrong, 0);
    let high = metric.most_at(streams, q, changed, 0).map_or(f64::INFINITY, |high| high as f64);
    let low = match metric {
        StreamMetric::FirstEvent | StreamMetric::FirstContent => {
            without_lag(run.snapshot.metric(Metric::GeneratorLag), |late| least(changed.saturating_add(late)))
        }
        _ => least(changed) as f64,
    };
    (low, high)
}

/// Returns the bounds of quantile `q` of a gap after pauses, likewise. `untold` more gaps may have any length.
pub(crate) fn bounds_of_gap(run: &Run, streams: &StreamFacts, metric: StreamMetric, q: f64, untold: u64) -> (f64, f64) {
    let changed = changed_by_pauses(run, streams);
    let unknown = untold.saturating_add(metric.read_at_once(streams));
    let longest = run.facts.generator.as_ref().map_or(0, GeneratorStats::longest_pause_ns) as f64;
    let least = |wrong: u64| metric.least_at(streams, q, wrong, unknown) as f64;
    let most =
        |wrong: u64, unknown: u64| metric.most_at(streams, q, wrong, unknown).map_or(f64::INFINITY, |most| most as f64);
    // A pause makes a gap longer or shorter by no more than its length.
    let low = least(changed).max(least(0) - longest);
    let by_length = (most(0, untold) + longest).min(most(changed, untold).max(longest));
    (low, most(changed, unknown).min(by_length))
}

/// Returns the largest possible number of times of one metric that pauses changed.
pub(crate) fn changed_by_pauses(run: &Run, streams: &StreamFacts) -> u64 {
    let open = if streams.reading.kind == StreamKind::Pushes {
        // Channels are open for the whole run.
        let pauses = run.facts.generator.as_ref().map_or(0, |generator| generator.pause_count);
        streams.tally.planned.saturating_mul(pauses)
    } else {
        open_during_pauses(run)
    };
    open.saturating_mul(CHANGED_IN_A_STREAM)
}

/// Returns the best lower bound. `value` returns the lower bound if so many values are left out.
fn without_lag(lag: &Histogram, value: impl Fn(u64) -> u64) -> f64 {
    let count = lag.count();
    let bound = |share: f64| {
        let rank = rank_of(share, count);
        let lag_ns = lag.value_at_rank(rank).map_or(0, |lag| lag.0);
        value(count - rank.min(count)) as f64 - lag_ns as f64
    };
    if count == 0 { value(0) as f64 } else { SHARES.map(bound).into_iter().fold(0.0, f64::max) }
}

/// Returns the largest possible number of streams that were open during pauses, counted once for each pause.
fn open_during_pauses(run: &Run) -> u64 {
    let Some(generator) = &run.facts.generator else { return 0 };
    let seconds = &run.snapshot.seconds;
    let mut open_at = vec![0_u64];
    for second in seconds {
        let open = open_at.last().copied().unwrap_or(0).saturating_add(second.sent);
        open_at.push(open.saturating_sub(second.completed.saturating_add(second.failed)));
    }
    let during = |pause: &Pause| {
        let second_of = |at_ns: u64| ((at_ns / NANOS_PER_SECOND) as usize).min(seconds.len());
        let first = second_of(pause.at_ns);
        let after = (second_of(pause.at_ns.saturating_add(pause.length_ns)) + 1).min(seconds.len());
        seconds[first..after.max(first)].iter().fold(open_at[first], |open, second| open.saturating_add(second.sent))
    };
    let kept = generator.pauses.iter().map(during).fold(0, u64::saturating_add);
    let most = open_at.iter().zip(seconds).map(|(open, second)| open.saturating_add(second.sent)).max().unwrap_or(0);
    let others = generator.pause_count.saturating_sub(generator.pauses.len() as u64);
    // Each of them may lie in two seconds.
    kept.saturating_add(others.saturating_mul(most).saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use truetail_model::time::Nanos;

    /// 1 of 1,000 starts was late by 50 ms. A worst case of all starts would move every percentile by 50 ms.
    #[test]
    fn a_few_late_starts_move_a_percentile_by_a_few_ranks() {
        let mut lag = Histogram::new();
        lag.record_n(Nanos::from_micros(10), 999);
        lag.record_n(Nanos::from_millis(50), 1);
        // The value at rank r is r ms, and the median is at rank 500.
        let value = |late: u64| (500 - late) * 1_000_000;
        let bound = without_lag(&lag, value);
        assert!((bound - (499e6 - 1e4)).abs() < 1e4, "{bound}");
        assert_eq!(without_lag(&Histogram::new(), value), 500e6);
    }
}
