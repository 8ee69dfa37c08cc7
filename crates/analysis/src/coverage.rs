//! Tests of the intervals: ignoring dependence fails, and respecting it costs little if the values are independent.
//! `tests/coverage.rs` and `examples/coverage` measure how often intervals contain the truth of whole runs.

use truetail_model::random::Random;
use truetail_model::record::Histogram;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{StreamRows, StreamTime};

use crate::StreamMetric;
use crate::confidence_interval;
use crate::population::{ConfidenceInterval, Population};

/// Time in an M/M/1 queue with service rate 1 and this load, in units of 10⁻⁹. Uses Lindley's recursion, starting from
/// the steady state, which is exponential with rate 1 − load.
fn queue(seed: u64, load: f64, n: usize) -> Vec<u64> {
    let mut random = Random::new(seed, 7);
    let idle = random.uniform() >= load;
    let mut wait = if idle { 0.0 } else { random.exponential() / (1.0 - load) };
    let mut next = || {
        let response = wait + random.exponential();
        wait = (response - random.exponential() / load).max(0.0);
        (response * 1e9) as u64
    };
    (0..n).map(|_| next()).collect()
}

fn exponential_quantile(q: f64, rate: f64) -> u64 {
    (-(1.0 - q).ln() / rate * 1e9) as u64
}

#[test]
fn intervals_that_ignore_dependence_would_not_do() {
    let q = 0.9;
    let load = 0.8;
    let n = 20_000_u64;
    let truth = exponential_quantile(q, 1.0 - load);
    let naive = |seed: &u64| {
        let mut values = queue(*seed, load, n as usize);
        values.sort_unstable();
        let ranks = confidence_interval::ranks(q, n, n * 9 / 10, |_| n as f64);
        let value = |rank: Option<u64>| values[rank.unwrap() as usize - 1];
        (value(ranks.low)..=value(ranks.high)).contains(&truth)
    };
    let held = (0..40).filter(naive).count();
    assert!(held < 20, "{held} of 40");
}

/// The first token of each answer of a model that queues at a load of 70 %, and ten gaps of each answer that are all as
/// long: 25 answers a row.
#[test]
fn intervals_by_row_hold_the_truth_of_streams() {
    let held = |metric: StreamMetric, q: f64| {
        let time = if metric == StreamMetric::FirstContent { StreamTime::FirstContent } else { StreamTime::ContentGap };
        let copies = if metric == StreamMetric::FirstContent { 1 } else { 10 };
        let truth = exponential_quantile(q, 0.3);
        let is_held = |seed: &u64| {
            let mut rows = StreamRows::default();
            let mut all = Histogram::new();
            for (i, value) in queue(*seed, 0.7, 6_000).into_iter().enumerate() {
                let at = Timestamp(i as u64 * 10_000_000);
                (0..copies).for_each(|_| rows.record(at, time, Nanos(value)));
                all.record_n(Nanos(value), copies);
            }
            let values = metric.values_by_row(&rows);
            assert_eq!(values.len(), 240);
            let population = Population::without_order(all, Histogram::new(), Histogram::new()).in_order(&values);
            let ConfidenceInterval { low, high, .. } = population.interval(q);
            low.is_none_or(|low| low <= truth) && high.is_none_or(|high| high >= truth)
        };
        (0..60).filter(is_held).count()
    };
    // If 95 % hold, 50 or fewer of 60 come once in 50,000 times.
    for metric in [StreamMetric::FirstContent, StreamMetric::ContentGap] {
        for q in [0.5, 0.9] {
            let held = held(metric, q);
            println!("{} {q}: {held} of 60", metric.name());
            assert!(held > 50, "{metric:?} {q}: {held} of 60");
        }
    }
}

#[test]
fn independent_arrivals_lose_little() {
    let mut random = Random::new(1, 7);
    let values: Vec<u64> = (0..20_000).map(|_| (random.exponential() * 1e9) as u64).collect();
    let population = Population::from_values(values);
    for q in [0.5, 0.9, 0.99] {
        let ConfidenceInterval { low, high, effective_n } = population.interval(q);
        assert!(low.is_some() && high.is_some(), "{q}: {low:?} … {high:?}");
        // Half is lost if the variance happens to look twice as large. With 30 cosines that is rarer than 1 in 1000.
        assert!(effective_n.unwrap() > 10_000, "{q}: {effective_n:?}");
    }
}
