//! Exceedances: the number of arrivals beyond a value in each stretch of the run. Fast for any value.

use std::ops::Range;

use truetail_model::record::{Distributions, Metric};

use crate::long_run_variance::CosineBasis;

/// Maximum number of stretches: four for each cosine that is used.
const MAX_BINS: usize = 120;
/// Minimum number of arrivals in a stretch, when single arrivals are cut into stretches.
const SMALLEST_BIN: usize = 4;
/// Cumulative counts are kept once per this many entries. The rest is counted on demand.
const STRIDE: usize = 1024;

/// A value and its stretch in one word, with the value in the high bits. Words sort much faster than pairs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct BinnedValue(u64);

impl BinnedValue {
    const BIN_BITS: u32 = 7;
    /// Larger values, of more than four and a half years, are not distinguished.
    const LARGEST: u64 = u64::MAX >> BinnedValue::BIN_BITS;

    fn new(value: u64, bin: usize) -> BinnedValue {
        BinnedValue(value.min(BinnedValue::LARGEST) << BinnedValue::BIN_BITS | bin as u64)
    }

    fn value(self) -> u64 {
        self.0 >> BinnedValue::BIN_BITS
    }

    fn bin(self) -> usize {
        (self.0 & ((1 << BinnedValue::BIN_BITS) - 1)) as usize
    }
}

/// The values of a run in ascending order, each with its stretch.
#[derive(Clone, Debug)]
pub(crate) struct ExceedanceCounts {
    placed: Vec<BinnedValue>,
    /// Number of arrivals of each entry; empty if each entry is one arrival.
    counts: Vec<u64>,
    sizes: Vec<u64>,
    /// Number of arrivals of each stretch before entries 0, [`STRIDE`], 2 · [`STRIDE`], …
    before: Vec<Vec<u64>>,
    cosines: CosineBasis,
    total: u64,
}

impl ExceedanceCounts {
    /// Counts every single value. `values` are in the order of the intended starts, with [`u64::MAX`] for an arrival
    /// without an answer. Returns `None` if there are too few to tell how they depend on each other.
    pub(crate) fn from_values(values: &[u64]) -> Option<ExceedanceCounts> {
        let bins = (values.len() / SMALLEST_BIN).min(MAX_BINS);
        let cosines = CosineBasis::over(bins)?;
        let place = |(i, value): (usize, &u64)| BinnedValue::new(*value, i * bins / values.len());
        let mut placed: Vec<BinnedValue> = values.iter().enumerate().map(place).collect();
        placed.sort_unstable();
        Some(ExceedanceCounts::new(placed, Vec::new(), bins, cosines))
    }

    /// Counts the values of `metrics` by interval. The metrics after the first are of arrivals without an answer.
    /// Returns `None` if there are too few intervals, or if they do not hold all `total` arrivals.
    pub(crate) fn from_intervals(rows: &[Distributions], metrics: &[Metric], total: u64) -> Option<ExceedanceCounts> {
        let in_row = |row: &&Distributions| metrics.iter().map(|metric| row.metric(*metric).count()).sum::<u64>() > 0;
        let rows: Vec<Vec<(u64, u64)>> =
            rows.iter().filter(in_row).map(|row| buckets_of(row, metrics).collect()).collect();
        ExceedanceCounts::from_buckets(&rows, total)
    }

    /// Counts the values of intervals, each with at least one: value and number of arrivals, with [`u64::MAX`] for
    /// arrivals without an answer. Returns `None` if there are too few intervals, or if they do not hold all `total`
    /// arrivals.
    pub(crate) fn from_buckets(rows: &[Vec<(u64, u64)>], total: u64) -> Option<ExceedanceCounts> {
        let bins = rows.len().min(MAX_BINS);
        let cosines = CosineBasis::over(bins)?;
        let place = |(i, row): (usize, &Vec<(u64, u64)>)| {
            let bin = i * bins / rows.len();
            row.iter().map(move |(value, count)| (BinnedValue::new(*value, bin), *count)).collect::<Vec<_>>()
        };
        let mut buckets: Vec<(BinnedValue, u64)> = rows.iter().enumerate().flat_map(place).collect();
        buckets.sort_unstable();
        let (placed, counts) = buckets.into_iter().unzip();
        let counts = ExceedanceCounts::new(placed, counts, bins, cosines);
        (counts.total == total).then_some(counts)
    }

    fn new(placed: Vec<BinnedValue>, counts: Vec<u64>, bins: usize, cosines: CosineBasis) -> ExceedanceCounts {
        let mut counts =
            ExceedanceCounts { placed, counts, sizes: vec![0; bins], before: Vec::new(), cosines, total: 0 };
        let mut sizes = vec![0; bins];
        for from in (0..counts.placed.len()).step_by(STRIDE) {
            counts.before.push(sizes.clone());
            counts.count(from..counts.placed.len().min(from + STRIDE), &mut sizes);
        }
        counts.total = sizes.iter().sum();
        counts.sizes = sizes;
        counts
    }

    /// Returns the `n` smallest values. Returns `None` unless all of them are known to the nanosecond.
    pub(crate) fn smallest(&self, n: usize) -> Option<Vec<u64>> {
        let smallest = self.placed.get(..n).filter(|_| self.counts.is_empty())?;
        let values: Vec<u64> = smallest.iter().map(|placed| placed.value()).collect();
        values.last().is_none_or(|last| *last < BinnedValue::LARGEST).then_some(values)
    }

    fn count(&self, entries: Range<usize>, sizes: &mut [u64]) {
        let placed = &self.placed[entries.clone()];
        if self.counts.is_empty() {
            placed.iter().for_each(|placed| sizes[placed.bin()] += 1);
        } else {
            placed.iter().zip(&self.counts[entries]).for_each(|(placed, count)| sizes[placed.bin()] += count);
        }
    }

    /// Returns the design effect of the share of arrivals with a value of at least `from`, and the number of cosines
    /// behind the estimate. The design effect is the variance of the share, divided by its variance for independent
    /// arrivals. Returns `None` if the share is 0 or 1.
    pub(crate) fn design_effect(&self, from: u64) -> Option<(f64, usize)> {
        let below = self.below(from);
        let share = below.iter().sum::<u64>() as f64 / self.total as f64;
        if share <= 0.0 || share >= 1.0 {
            return None;
        }
        let deviation = |(below, size): (&u64, &u64)| *below as f64 - share * *size as f64;
        let deviations: Vec<f64> = below.iter().zip(&self.sizes).map(deviation).collect();
        let long_run = self.cosines.long_run(&deviations);
        Some((long_run.variance / (self.total as f64 * share * (1.0 - share)), long_run.cosines))
    }

    /// Returns the number of arrivals of each stretch with a value below `from`.
    fn below(&self, from: u64) -> Vec<u64> {
        let from = BinnedValue::new(from, 0);
        let end = self.placed.partition_point(|placed| *placed < from);
        let Some(last) = self.before.len().checked_sub(1) else { return self.sizes.clone() };
        let stride = (end / STRIDE).min(last);
        let mut below = self.before[stride].clone();
        self.count(stride * STRIDE..end, &mut below);
        below
    }
}

/// Returns the buckets of one interval, and their counts.
fn buckets_of<'a>(row: &'a Distributions, metrics: &'a [Metric]) -> impl Iterator<Item = (u64, u64)> + 'a {
    metrics.iter().enumerate().flat_map(move |(i, metric)| {
        let value_of = move |lowest: u64| if i == 0 { lowest } else { u64::MAX };
        row.metric(*metric).buckets().map(move |(low, count)| (value_of(low.0), count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_burst_is_one_event() {
        // 40 of 4 000 are slow. Evenly spread, they vary less than independent ones. All at once, they are one event.
        let evenly: Vec<u64> = (0..4_000).map(|i| u64::from(i % 100 == 50)).collect();
        let at_once: Vec<u64> = (0..4_000).map(|i| u64::from((1_000..1_040).contains(&i))).collect();
        let effect = |values: &[u64]| ExceedanceCounts::from_values(values).unwrap().design_effect(1).unwrap().0;
        assert!(effect(&evenly) < 0.1, "{}", effect(&evenly));
        assert!((25.0..80.0).contains(&effect(&at_once)), "{}", effect(&at_once));
    }

    #[test]
    fn nothing_beyond_and_all_beyond_say_nothing() {
        let counts = ExceedanceCounts::from_values(&(0..100).collect::<Vec<_>>()).unwrap();
        assert_eq!((counts.design_effect(0), counts.design_effect(100)), (None, None));
        assert!(counts.design_effect(50).is_some());
        assert!(ExceedanceCounts::from_values(&[1; 19]).is_none() && ExceedanceCounts::from_values(&[1; 20]).is_some());
        assert!(ExceedanceCounts::from_intervals(&[], &[Metric::ResponseTime], 0).is_none());
    }

    #[test]
    fn values_of_many_years_are_ordered_and_not_given_back() {
        let mut values: Vec<u64> = (0..100).collect();
        values[7] = BinnedValue::LARGEST;
        values[8] = u64::MAX;
        let counts = ExceedanceCounts::from_values(&values).unwrap();
        assert_eq!(counts.below(u64::MAX).iter().sum::<u64>(), 98);
        assert_eq!(counts.smallest(98).unwrap().last(), Some(&99));
        assert!(counts.smallest(99).is_none() && counts.smallest(101).is_none());
    }

    proptest! {
        #[test]
        fn below_is_counted_one_by_one(values in proptest::collection::vec(0u64..3_000, 20..4_000), from in 0u64..3_001) {
            let counts = ExceedanceCounts::from_values(&values).unwrap();
            let mut below = vec![0; counts.sizes.len()];
            for (i, value) in values.iter().enumerate() {
                below[i * counts.sizes.len() / values.len()] += u64::from(*value < from);
            }
            prop_assert_eq!(counts.below(from), below);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            prop_assert_eq!(counts.smallest(values.len() - 1).unwrap(), &sorted[..values.len() - 1]);
        }
    }
}
