//! Exact count, sum, minimum and maximum of values, kept beside their histogram buckets.

use crate::time::Nanos;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ExactStatistics {
    pub(super) count: u64,
    pub(super) sum: u128,
    /// `u64::MAX` without values.
    pub(super) min: u64,
    /// 0 without values.
    pub(super) max: u64,
}

impl Default for ExactStatistics {
    fn default() -> ExactStatistics {
        ExactStatistics { count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl ExactStatistics {
    #[inline]
    pub(super) fn add(&mut self, value: Nanos, n: u64) {
        self.count += n;
        self.sum += u128::from(value.0) * u128::from(n);
        self.min = self.min.min(value.0);
        self.max = self.max.max(value.0);
    }

    pub(super) fn merge(&mut self, other: &ExactStatistics) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}
