//! Distributions of one target, in little memory: a run may have many targets.

use super::exact_statistics::ExactStatistics;
use super::{Histogram, Metric, RequestRecord, SparseHistogram};
use crate::time::Nanos;

/// Counts of values in the buckets of a [`Histogram`] that are in use, with exact count, sum, minimum and maximum.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CompactHistogram {
    buckets: SparseHistogram,
    totals: ExactStatistics,
}

impl CompactHistogram {
    /// Records the same value `n` times.
    #[inline]
    pub fn record_n(&mut self, value: Nanos, n: u64) {
        self.buckets.record_n(value, n);
        if n > 0 {
            self.totals.add(value, n);
        }
    }

    /// Returns the number of recorded values.
    pub fn count(&self) -> u64 {
        self.totals.count
    }

    /// Returns the exact sum of the values, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.totals.sum
    }

    /// Returns the exact smallest value; `None` if empty.
    pub fn min(&self) -> Option<Nanos> {
        (self.totals.count > 0).then_some(Nanos(self.totals.min))
    }

    /// Returns the exact largest value; `None` if empty.
    pub fn max(&self) -> Option<Nanos> {
        (self.totals.count > 0).then_some(Nanos(self.totals.max))
    }

    /// Returns the buckets in use: (lowest value, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        self.buckets.buckets()
    }

    /// Adds all counts of another histogram, without loss.
    pub fn merge(&mut self, other: &CompactHistogram) {
        self.buckets.merge(&other.buckets);
        self.totals.merge(&other.totals);
    }

    /// Converts to a [`Histogram`].
    pub fn to_histogram(&self) -> Histogram {
        let mut histogram = Histogram::with_totals(self.totals);
        histogram.add_buckets(self.buckets.entries());
        histogram
    }

    /// Restores the exact figures of counts rebuilt from buckets, like [`Histogram::restore_exact`].
    pub fn restore_exact(&mut self, sum_ns: u128, min: Nanos, max: Nanos) {
        let mut restored = self.to_histogram();
        restored.restore_exact(sum_ns, min, max);
        if let (Some(min), Some(max)) = (restored.min(), restored.max()) {
            self.totals = ExactStatistics { count: restored.count(), sum: restored.sum_ns(), min: min.0, max: max.0 };
        }
    }
}

/// Distributions of the measured arrivals of one target.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TargetTimes {
    metrics: [CompactHistogram; TargetTimes::METRICS.len()],
}

impl TargetTimes {
    /// Metrics that are kept for each target.
    pub const METRICS: [Metric; 6] = [
        Metric::ResponseTime,
        Metric::WithoutGenerator,
        Metric::Censored,
        Metric::Failed,
        Metric::ServiceTime,
        Metric::FirstByteTime,
    ];

    fn number(metric: Metric) -> Option<usize> {
        TargetTimes::METRICS.iter().position(|kept| *kept == metric)
    }

    /// Adds the known times of one arrival.
    #[inline]
    pub fn record(&mut self, record: &RequestRecord) {
        self.record_n(record, 1);
    }

    /// Adds the known times of `n` arrivals, each with the times of `record`.
    #[inline]
    pub fn record_n(&mut self, record: &RequestRecord, n: u64) {
        for (kept, metric) in self.metrics.iter_mut().zip(TargetTimes::METRICS) {
            if let Some(value) = metric.value(record) {
                kept.record_n(value, n);
            }
        }
    }

    /// Returns the distribution of one metric; `None` if it is not among [`TargetTimes::METRICS`].
    pub fn metric(&self, metric: Metric) -> Option<&CompactHistogram> {
        TargetTimes::number(metric).map(|number| &self.metrics[number])
    }

    /// Returns the mutable distribution of one metric; `None` if it is not among [`TargetTimes::METRICS`].
    pub fn metric_mut(&mut self, metric: Metric) -> Option<&mut CompactHistogram> {
        TargetTimes::number(metric).map(|number| &mut self.metrics[number])
    }

    /// Adds the records of the same target from elsewhere.
    pub fn merge(&mut self, other: &TargetTimes) {
        self.metrics.iter_mut().zip(&other.metrics).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::histogram::tests::values;
    use super::*;

    proptest! {
        #[test]
        fn it_is_the_histogram_of_the_same_values(a in proptest::collection::vec(values(), 0..200),
                                                  b in proptest::collection::vec(values(), 0..200)) {
            let compact = |values: &[u64]| {
                let mut compact = CompactHistogram::default();
                values.iter().for_each(|value| compact.record_n(Nanos(*value), 1));
                compact
            };
            let mut expected = Histogram::new();
            a.iter().chain(&b).for_each(|value| expected.record(Nanos(*value)));
            let mut merged = compact(&a);
            merged.merge(&compact(&b));
            let found = merged.to_histogram();
            prop_assert!(found.buckets().eq(expected.buckets()));
            prop_assert_eq!(
                (found.count(), found.sum_ns(), found.min(), found.max()),
                (expected.count(), expected.sum_ns(), expected.min(), expected.max())
            );
            let mut rebuilt = CompactHistogram::default();
            merged.buckets().for_each(|(value, n)| rebuilt.record_n(value, n));
            if let (Some(min), Some(max)) = (expected.min(), expected.max()) {
                rebuilt.restore_exact(expected.sum_ns(), min, max);
            }
            prop_assert_eq!(rebuilt, merged);
        }
    }
}
