//! HdrHistogram's correction for coordinated omission.

use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_run::{ForeignHistogram, ForeignInterval};

use super::bins::{Bins, Cell};

/// Adds the requests that a client with a fixed interval would have sent while it waited. Returns the corrected
/// histogram and the number of added requests.
///
/// Each value v above the interval i adds the values v − i, v − 2i … down to i, like HdrHistogram's
/// `copyCorrectedForCoordinatedOmission`. The values are exact to the resolution of the buckets: v is the highest value
/// of its bucket. An interval of zero adds nothing.
pub fn correct(histogram: &Histogram, expected_interval: Nanos) -> (Histogram, u64) {
    correct_part(histogram, expected_interval, histogram.max().unwrap_or_default())
}

/// Corrects a part of a histogram whose largest value is `largest`, so that the corrected parts add up to the whole.
fn correct_part(histogram: &Histogram, expected_interval: Nanos, largest: Nanos) -> (Histogram, u64) {
    let mut corrected = histogram.clone();
    let mut added = AddedCount::default();
    if expected_interval.is_zero() {
        return (corrected, 0);
    }
    for (_, highest, count) in histogram.buckets() {
        added.add_missing(&mut corrected, highest.min(largest), expected_interval, count);
    }
    (corrected, added.added)
}

/// Limit on the values added for one value. If the correction calls for more, it takes larger steps and records several
/// copies of each value, which bounds its running time.
const MAX_STEPS: u64 = 100_000;
/// After this many added values, each further value gets at most [`FEW_STEPS`].
const MANY_STEPS: u64 = 100_000_000;
const FEW_STEPS: u64 = 64;
/// Limit on the requests added to one file. Only a broken file asks for more, and the counters would overflow.
const MAX_ADDED: u64 = 1 << 60;

#[derive(Clone, Copy, Default, Debug)]
struct AddedCount {
    /// Values added.
    taken: u64,
    /// Requests added.
    added: u64,
}

impl AddedCount {
    fn add_missing(&mut self, to: &mut Histogram, value: Nanos, interval: Nanos, copies: u64) {
        let steps = (value.0 / interval.0).saturating_sub(1);
        let most = if self.taken < MANY_STEPS { MAX_STEPS } else { FEW_STEPS };
        let stride = steps.div_ceil(most).max(1);
        let mut step = 1;
        while step <= steps {
            let here = stride.min(steps - step + 1);
            let middle = step + (here - 1) / 2;
            let count = copies.saturating_mul(here).min(MAX_ADDED - self.added);
            to.record_n(Nanos(value.0 - middle * interval.0), count);
            step += here;
            self.taken += 1;
            self.added += count;
        }
    }
}

/// Latencies before and after a correction.
#[derive(Clone, Default, Debug)]
pub struct Corrected {
    /// Latencies of the file.
    pub before: Histogram,
    /// Latencies including the added requests.
    pub after: Histogram,
    /// Number of added requests.
    pub added: u64,
}

impl Corrected {
    fn new(before: &Histogram, expected_interval: Nanos, largest: Nanos) -> Corrected {
        let (after, added) = correct_part(before, expected_interval, largest);
        Corrected { before: before.clone(), after, added }
    }
}

impl Cell for Corrected {
    fn absorb(&mut self, later: &Corrected) {
        self.before.merge(&later.before);
        self.after.merge(&later.after);
        self.added = self.added.saturating_add(later.added);
    }
}

/// Latencies of one interval of time, before and after a correction.
#[derive(Clone, Debug)]
pub struct CorrectedInterval {
    /// Start of the interval on the clock of the file, in nanoseconds.
    pub from_ns: u64,
    /// End of the interval, in nanoseconds.
    pub to_ns: u64,
    /// Latencies and added requests.
    pub corrected: Corrected,
}

/// Correction of a whole file.
#[derive(Clone, Default, Debug)]
pub struct Correction {
    /// All latencies.
    pub whole: Corrected,
    /// Latencies by interval. Empty if the file has no times or fits into one interval.
    pub intervals: Vec<CorrectedInterval>,
}

impl Correction {
    /// Corrects a histogram and each of its intervals.
    pub fn from_histogram(histogram: &ForeignHistogram, expected_interval: Nanos) -> Correction {
        let largest = histogram.max().unwrap_or_default();
        let of = |part: &Histogram| Corrected::new(part, expected_interval, largest);
        let interval = |one: &ForeignInterval| CorrectedInterval {
            from_ns: one.from_ns,
            to_ns: one.to_ns,
            corrected: of(&one.histogram),
        };
        Correction { whole: of(&histogram.whole), intervals: histogram.intervals.iter().map(interval).collect() }
    }
}

/// Limit on the intervals of time. Each is 1, 2, 4 … seconds long.
const MAX_INTERVALS: usize = 32;
const SECOND: u64 = 1_000_000_000;

/// Corrects requests one by one, with exact values like HdrHistogram's `recordValueWithExpectedInterval`. Also groups
/// them by the time of their start.
#[derive(Clone, Debug)]
pub struct Corrector {
    interval: Nanos,
    /// Requests by the second of their start.
    timed: Bins<Corrected>,
    /// Requests without a start time.
    untimed: Corrected,
    steps: AddedCount,
}

impl Corrector {
    /// Creates a corrector without requests. An interval of zero adds nothing.
    pub fn new(expected_interval: Nanos) -> Corrector {
        let timed = Bins::new(MAX_INTERVALS, 0);
        let untimed = Corrected::default();
        Corrector { interval: expected_interval, timed, untimed, steps: AddedCount::default() }
    }

    /// Records one request, with its start in nanoseconds if the file has it.
    #[inline]
    pub fn record(&mut self, start_ns: Option<u64>, value: Nanos) {
        let to = match start_ns {
            Some(start) => self.timed.at(start / SECOND),
            None => &mut self.untimed,
        };
        to.before.record(value);
        to.after.record(value);
        if !self.interval.is_zero() && value.0 / 2 >= self.interval.0 {
            let before = self.steps.added;
            self.steps.add_missing(&mut to.after, value, self.interval, 1);
            to.added += self.steps.added - before;
        }
    }

    /// Returns the corrected latencies.
    pub fn finish(self) -> Correction {
        let Corrector { timed, mut untimed, .. } = self;
        let begins = |index: usize| timed.begins(index).saturating_mul(SECOND);
        let used: Vec<(usize, &Corrected)> =
            timed.cells().iter().enumerate().filter(|(_, cell)| !cell.before.is_empty()).collect();
        let interval = |(index, cell): &(usize, &Corrected)| CorrectedInterval {
            from_ns: begins(*index),
            to_ns: begins(index + 1),
            corrected: (*cell).clone(),
        };
        // Requests without a start would be missing from every interval.
        let is_divided = used.len() > 1 && untimed.before.is_empty();
        let intervals = if is_divided { used.iter().map(interval).collect() } else { Vec::new() };
        used.iter().for_each(|(_, cell)| untimed.absorb(cell));
        Correction { whole: untimed, intervals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// HdrHistogram's own example: 100 s of answers in 1 ms, one every 10 ms, then one answer that takes 100 s. The
    /// published percentiles are 1 ms at p50 and 50 s at p75. Without correction, p75 is 1 ms.
    #[test]
    fn the_example_of_hdrhistogram() {
        let short = Nanos::from_millis(1);
        let long = Nanos::from_secs(100);
        let interval = Nanos::from_millis(10);
        let mut corrector = Corrector::new(interval);
        (0..10_000).for_each(|_| corrector.record(None, short));
        corrector.record(None, long);
        let Corrected { before, after, added } = corrector.finish().whole;
        let (of_histogram, added_there) = correct(&before, interval);
        assert_eq!((added, added_there), (9_999, 9_999));
        for histogram in [&after, &of_histogram] {
            assert_eq!(histogram.count(), 20_000);
            let at = |q: f64| histogram.quantile(q).unwrap().as_secs_f64();
            assert!((at(0.5) - 0.001).abs() < 1e-6);
            assert!((at(0.75) / 50.0 - 1.0).abs() < 0.001, "{}", at(0.75));
            assert!((at(0.99) / 98.0 - 1.0).abs() < 0.001, "{}", at(0.99));
            assert_eq!(histogram.max(), Some(long));
            let mean = histogram.mean_ns().unwrap() / 1e9;
            assert!((mean / 25.0025 - 1.0).abs() < 0.001, "{mean}");
        }
        assert_eq!(before.quantile(0.75), before.quantile(0.5));
    }

    /// Rows of 584 years each, and an interval of one nanosecond.
    #[test]
    fn a_hostile_file_is_corrected_in_bounded_time() {
        let mut corrector = Corrector::new(Nanos(1));
        corrector.steps.taken = MANY_STEPS - 1;
        (0..3_000).for_each(|_| corrector.record(None, Nanos(u64::MAX)));
        assert!(corrector.steps.taken <= MANY_STEPS + MAX_STEPS + 3_000 * FEW_STEPS);
        let Corrected { before, after, added } = corrector.finish().whole;
        assert_eq!((added, after.count()), (MAX_ADDED, before.count() + MAX_ADDED));
        assert_eq!(correct(&before, Nanos(1)).1, MAX_ADDED);
    }

    #[test]
    fn intervals_add_up() {
        let mut corrector = Corrector::new(Nanos::from_millis(10));
        for row in 0..10_000u64 {
            let value = if row == 5_500 { Nanos::from_secs(1) } else { Nanos::from_millis(1) };
            corrector.record(Some(1_700_000_000 * SECOND + row * 10_000_000), value);
        }
        let Correction { whole, intervals } = corrector.finish();
        assert_eq!((whole.before.count(), whole.added), (10_000, 99));
        assert!((2..=MAX_INTERVALS).contains(&intervals.len()), "{}", intervals.len());
        let hit = intervals.iter().filter(|one| one.corrected.added > 0).collect::<Vec<_>>();
        assert_eq!((hit.len(), hit[0].corrected.added), (1, 99));
        let at = 1_700_000_055 * SECOND;
        assert!(hit[0].from_ns <= at && at < hit[0].to_ns);
        let mut sum = Histogram::new();
        intervals.iter().for_each(|one| sum.merge(&one.corrected.after));
        assert_eq!(sum, whole.after);
    }

    proptest! {
        #[test]
        fn parts_of_a_histogram_add_up(values in proptest::collection::vec(1u64..1_000_000, 2..60), interval in 100u64..100_000) {
            let mut parts = [Histogram::new(), Histogram::new(), Histogram::new()];
            values.iter().enumerate().for_each(|(index, value)| parts[index % 3].record(Nanos(*value)));
            let mut whole = Histogram::new();
            parts.iter().for_each(|part| whole.merge(part));
            let intervals = parts.map(|histogram| ForeignInterval { from_ns: 0, to_ns: 1, histogram }).to_vec();
            let correction = Correction::from_histogram(&ForeignHistogram { whole, intervals }, Nanos(interval));
            let added: u64 = correction.intervals.iter().map(|one| one.corrected.added).sum();
            prop_assert_eq!(added, correction.whole.added);
            let mut sum = Histogram::new();
            correction.intervals.iter().for_each(|one| sum.merge(&one.corrected.after));
            prop_assert_eq!(sum.count(), correction.whole.after.count());
        }

        /// The corrector records exactly the values that the hdrhistogram crate records.
        #[test]
        fn it_adds_what_hdrhistogram_adds(values in proptest::collection::vec(1u64..1_000_000, 1..60), interval in 50u64..100_000) {
            let mut corrector = Corrector::new(Nanos(interval));
            let mut theirs = hdrhistogram::Histogram::<u64>::new(3).unwrap();
            for value in &values {
                corrector.record(None, Nanos(*value));
                theirs.record_correct(*value, interval).unwrap();
            }
            let Corrected { before, after, added } = corrector.finish().whole;
            let ours: Vec<(u64, u64)> = after.buckets().map(|(low, _, count)| (low.0, count)).collect();
            let expected: Vec<(u64, u64)> = theirs.iter_recorded()
                .map(|value| (theirs.lowest_equivalent(value.value_iterated_to()), value.count_at_value())).collect();
            prop_assert_eq!(ours, expected);
            prop_assert_eq!(before.count() + added, after.count());
        }

        /// The number of added requests is bounded by the total waiting time, and the maximum does not change. The 1 %
        /// allows for buckets, whose highest value is slightly larger than the duration.
        #[test]
        fn what_is_added_is_bounded(values in proptest::collection::vec(1u64..1_000_000, 1..60), interval in 1u64..100_000) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|value| histogram.record(Nanos(*value)));
            let (after, added) = correct(&histogram, Nanos(interval));
            prop_assert!(added as f64 <= 1.01 * values.iter().sum::<u64>() as f64 / interval as f64);
            prop_assert_eq!(after.count(), histogram.count() + added);
            prop_assert_eq!(after.max(), histogram.max());
        }
    }
}
