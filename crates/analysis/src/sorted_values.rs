//! Sorted values, from single values or from histogram buckets.

use truetail_model::record::Histogram;
use truetail_model::time::Nanos;

/// A value that is known to be from `low` to `high`, both included. The two are equal if it is known exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ValueRange {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

/// Values in ascending order, in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) enum SortedValues {
    Each(Vec<u64>),
    Buckets(Buckets),
}

/// A histogram with cumulative counts, so that a rank is found by binary search.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    histogram: Histogram,
    /// The highest rank and the values of each bucket in use, ascending.
    up_to: Vec<(u64, ValueRange)>,
}

impl SortedValues {
    pub(crate) fn each(mut values: Vec<u64>) -> SortedValues {
        values.sort_unstable();
        SortedValues::Each(values)
    }

    pub(crate) fn buckets(histogram: Histogram) -> SortedValues {
        let min = histogram.min().map_or(0, |min| min.0);
        let max = histogram.max().map_or(0, |max| max.0);
        let mut seen = 0;
        let count_up = |(low, high, count): (Nanos, Nanos, u64)| {
            seen += count;
            (seen, ValueRange { low: low.0.max(min), high: high.0.min(max) })
        };
        let up_to = histogram.buckets().map(count_up).collect();
        SortedValues::Buckets(Buckets { histogram, up_to })
    }

    pub(crate) fn count(&self) -> u64 {
        match self {
            SortedValues::Each(values) => values.len() as u64,
            SortedValues::Buckets(buckets) => buckets.histogram.count(),
        }
    }

    /// Returns the value at `rank`, from 1 to the count.
    ///
    /// # Panics
    /// If the rank is outside that range.
    pub(crate) fn at(&self, rank: u64) -> ValueRange {
        match self {
            SortedValues::Each(values) => {
                let value = values[(rank - 1) as usize];
                ValueRange { low: value, high: value }
            }
            SortedValues::Buckets(buckets) => buckets.at(rank),
        }
    }

    pub(crate) fn with(&self, others: &SortedValues) -> SortedValues {
        match (self, others) {
            (SortedValues::Each(mine), SortedValues::Each(theirs)) => {
                SortedValues::each([mine.as_slice(), theirs].concat())
            }
            _ => {
                let mut all = self.to_histogram();
                all.merge(&others.to_histogram());
                SortedValues::buckets(all)
            }
        }
    }

    fn to_histogram(&self) -> Histogram {
        match self {
            SortedValues::Buckets(buckets) => buckets.histogram.clone(),
            SortedValues::Each(values) => {
                let mut histogram = Histogram::new();
                values.iter().for_each(|value| histogram.record(Nanos(*value)));
                histogram
            }
        }
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        match self {
            SortedValues::Each(values) if values.is_empty() => None,
            SortedValues::Each(values) => {
                let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
                Some(sum as f64 / values.len() as f64)
            }
            SortedValues::Buckets(buckets) => buckets.histogram.mean_ns(),
        }
    }

    pub(crate) fn min(&self) -> Option<u64> {
        match self {
            SortedValues::Each(values) => values.first().copied(),
            SortedValues::Buckets(buckets) => buckets.histogram.min().map(|value| value.0),
        }
    }

    pub(crate) fn max(&self) -> Option<u64> {
        match self {
            SortedValues::Each(values) => values.last().copied(),
            SortedValues::Buckets(buckets) => buckets.histogram.max().map(|value| value.0),
        }
    }

    pub(crate) fn is_exact(&self) -> bool {
        matches!(self, SortedValues::Each(_))
    }
}

impl Buckets {
    fn at(&self, rank: u64) -> ValueRange {
        let place = self.up_to.partition_point(|(highest, _)| *highest < rank);
        assert!(rank > 0 && place < self.up_to.len(), "rank {rank} of {}", self.histogram.count());
        self.up_to[place].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buckets_hold_the_sorted_values(mut values in proptest::collection::vec(0u64..1 << 40, 1..200)) {
            let buckets = SortedValues::buckets(SortedValues::each(values.clone()).to_histogram());
            let each = SortedValues::each(values.clone());
            values.sort_unstable();
            for (i, value) in values.iter().enumerate() {
                let rank = i as u64 + 1;
                prop_assert_eq!(each.at(rank), ValueRange { low: *value, high: *value });
                let known = buckets.at(rank);
                prop_assert!(known.low <= *value && *value <= known.high);
                prop_assert!(known.high - known.low <= value / 1024 + 1);
            }
            prop_assert_eq!(each.mean(), buckets.mean());
            prop_assert_eq!((each.min(), each.max()), (buckets.min(), buckets.max()));
        }

        #[test]
        fn together_is_all(a in proptest::collection::vec(0u64..1000, 0..50), b in proptest::collection::vec(0u64..1000, 0..50)) {
            let all = SortedValues::each([a.clone(), b.clone()].concat());
            let a = SortedValues::each(a);
            let b = SortedValues::each(b);
            let mixed = a.with(&SortedValues::buckets(b.to_histogram()));
            prop_assert_eq!(mixed.count(), all.count());
            for rank in 1..=all.count() {
                prop_assert_eq!(a.with(&b).at(rank), all.at(rank));
                prop_assert_eq!(mixed.at(rank), all.at(rank));
            }
        }
    }
}
