//! A distribution of times in the buckets of Prometheus.

use std::collections::BTreeMap;

use truetail_model::record::Histogram;
use truetail_model::time::{NANOS_PER_SECOND, Nanos};

/// Upper bounds of the classic buckets, in nanoseconds: 10 µs to 60 s.
const CLASSIC_BOUNDS_NS: [u64; 21] = [
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    30_000_000_000,
    60_000_000_000,
];

/// The schema of the native buckets: bucket i ends at 2^(i/32) seconds, so each is 2.2 % wide.
pub const NATIVE_SCHEMA: i32 = 5;
const PER_POWER: f64 = 32.0;
/// The native bucket above the largest finite number, for infinite times.
const NATIVE_INFINITE: i32 = 1024 * PER_POWER as i32 + 1;

/// Times in classic and native buckets. Unanswered arrivals are above every bucket with a finite bound.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct TimesHistogram {
    /// Number of arrivals, with and without an answer.
    pub count: u64,
    /// Sum of the times in seconds. An unanswered arrival counts with the time that it waited.
    pub sum_s: f64,
    /// (upper bound in seconds, arrivals up to it), ascending. All other arrivals are above the last bound.
    pub classic: Vec<(f64, u64)>,
    /// Arrivals of zero seconds, which native buckets count separately.
    pub native_zero: u64,
    /// (number of the native bucket, arrivals in it), ascending: see [`NATIVE_SCHEMA`].
    pub native: Vec<(i32, u64)>,
}

impl TimesHistogram {
    /// Returns the distribution of `times`, and of `unanswered` arrivals, whose times are lower bounds.
    pub fn new(times: &Histogram, unanswered: &[&Histogram]) -> TimesHistogram {
        let without_answer: u64 = unanswered.iter().map(|times| times.count()).sum();
        let sum_ns: u128 = times.sum_ns() + unanswered.iter().map(|times| times.sum_ns()).sum::<u128>();
        let mut native: BTreeMap<i32, u64> = BTreeMap::new();
        let mut native_zero = 0;
        for (lowest, _, count) in times.buckets() {
            match bucket_of(lowest) {
                Some(bucket) => *native.entry(bucket).or_default() += count,
                None => native_zero += count,
            }
        }
        if without_answer > 0 {
            native.insert(NATIVE_INFINITE, without_answer);
        }
        TimesHistogram {
            count: times.count() + without_answer,
            sum_s: sum_ns as f64 / NANOS_PER_SECOND as f64,
            classic: CLASSIC_BOUNDS_NS.map(|bound| (seconds(bound), times.count_at_or_below(Nanos(bound)))).to_vec(),
            native_zero,
            native: native.into_iter().collect(),
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / NANOS_PER_SECOND as f64
}

fn bucket_of(time: Nanos) -> Option<i32> {
    (time.0 > 0).then(|| (libm::log2(seconds(time.0)) * PER_POWER).ceil() as i32)
}
