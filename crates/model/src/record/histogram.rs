//! Histograms with the buckets of HdrHistogram (lowest discernible value 1, 3 significant digits), so that they become
//! HdrHistogram logs without loss.
//!
//! Values below 2,048 ns have a bucket each. Above, each power of two is split into 1,024 buckets, so a value is known
//! to better than 0.1 %. Any `u64` can be recorded: nothing is clipped or dropped.

use super::exact_statistics::ExactStatistics;
use crate::time::Nanos;

/// log2 of the buckets in each power of two.
const HALF_BITS: u32 = 10;
/// Each value below this has its own bucket.
const LINEAR: u64 = 1 << (HALF_BITS + 1);

#[inline]
pub(super) fn bucket_of(value: u64) -> usize {
    // `| (LINEAR - 1)` makes every linear value look like the largest linear value, whose shift is 0.
    let shift = 63 - (value | (LINEAR - 1)).leading_zeros() - HALF_BITS;
    ((shift as usize) << HALF_BITS) + (value >> shift) as usize
}

/// Returns the lowest value of a bucket, and the number of values in it.
pub(super) fn values_of(bucket: usize) -> (u64, u64) {
    if bucket < LINEAR as usize {
        return (bucket as u64, 1);
    }
    let shift = (bucket >> HALF_BITS) - 1;
    let sub = (bucket - (shift << HALF_BITS)) as u64;
    (sub << shift, 1u64 << shift)
}

/// Number of buckets. The last one holds `u64::MAX`.
pub const BUCKETS: usize = (((u64::BITS - HALF_BITS) as usize) << HALF_BITS) + (1 << HALF_BITS);

/// Returns the lowest value of a bucket. Buckets count from 0 and are below [`BUCKETS`].
pub fn lowest_in_bucket(bucket: usize) -> Nanos {
    Nanos(values_of(bucket).0)
}

/// Counts of values by bucket, with exact count, sum, minimum and maximum.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    totals: ExactStatistics,
}

impl Histogram {
    /// Creates an empty histogram, which allocates as values come.
    pub fn new() -> Histogram {
        Histogram::default()
    }

    /// Creates an empty histogram with room for values up to `highest`. Higher values are recorded too, but allocate.
    pub fn with_room_for(highest: Nanos) -> Histogram {
        Histogram { counts: vec![0; bucket_of(highest.0) + 1], ..Histogram::default() }
    }

    /// Records one value.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.record_n(value, 1);
    }

    /// Records the same value `n` times.
    #[inline]
    pub fn record_n(&mut self, value: Nanos, n: u64) {
        if n == 0 {
            return;
        }
        let bucket = bucket_of(value.0);
        if bucket >= self.counts.len() {
            self.make_room_for(bucket);
        }
        self.counts[bucket] += n;
        self.totals.add(value, n);
    }

    /// Creates a histogram with these totals and empty buckets: [`Histogram::add_buckets`] must fill them. All its
    /// memory is allocated here.
    pub(super) fn with_totals(totals: ExactStatistics) -> Histogram {
        let buckets = if totals.count == 0 { 0 } else { bucket_of(totals.max) + 1 };
        Histogram { counts: vec![0; buckets], totals }
    }

    /// Adds buckets, by number and count, whose values are in the totals already.
    pub(super) fn add_buckets(&mut self, counted: impl Iterator<Item = (u16, u64)>) {
        for (bucket, n) in counted {
            self.counts[usize::from(bucket)] += n;
        }
    }

    /// Kept out of line, so that the hot path stays short.
    #[cold]
    #[inline(never)]
    fn make_room_for(&mut self, bucket: usize) {
        self.counts.resize(bucket + 1, 0);
    }

    /// Returns the number of recorded values.
    pub fn count(&self) -> u64 {
        self.totals.count
    }

    /// Returns true if nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.totals.count == 0
    }

    /// Returns the exact sum of the values, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.totals.sum
    }

    /// Returns the exact mean; `None` if empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.totals.count > 0).then(|| self.totals.sum as f64 / self.totals.count as f64)
    }

    /// Returns the exact smallest value; `None` if empty.
    pub fn min(&self) -> Option<Nanos> {
        (self.totals.count > 0).then_some(Nanos(self.totals.min))
    }

    /// Returns the exact largest value; `None` if empty.
    pub fn max(&self) -> Option<Nanos> {
        (self.totals.count > 0).then_some(Nanos(self.totals.max))
    }

    /// Returns the value at rank `rank` (from 1), as HdrHistogram does: the highest of its bucket, at most the exact
    /// maximum. `None` if `rank` is 0 or above the count.
    pub fn value_at_rank(&self, rank: u64) -> Option<Nanos> {
        if rank == 0 || rank > self.totals.count {
            return None;
        }
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                let (lowest, width) = values_of(bucket);
                return Some(Nanos((lowest + (width - 1)).min(self.totals.max)));
            }
        }
        unreachable!("the counts add up to the count")
    }

    /// Returns the smallest value whose cumulative count reaches ceil(q·n), q in [0, 1]; `None` if empty.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        self.value_at_rank(rank_of(q, self.totals.count))
    }

    /// Returns the number of values up to `value`, to the resolution of the buckets.
    pub fn count_at_or_below(&self, value: Nanos) -> u64 {
        self.counts.iter().take(bucket_of(value.0) + 1).sum()
    }

    /// Returns the buckets in use: (lowest value, highest value, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (Nanos, Nanos, u64)> + '_ {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bucket, count)| {
            let (lowest, width) = values_of(bucket);
            (Nanos(lowest), Nanos(lowest + (width - 1)), *count)
        })
    }

    /// Adds all counts of another histogram, without loss.
    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.totals.merge(&other.totals);
    }

    /// Returns true if `part` may be a part of this histogram: no bucket of it holds more values, and its sum is not
    /// larger.
    pub fn contains(&self, part: &Histogram) -> bool {
        let held = |bucket: usize| self.counts.get(bucket).copied().unwrap_or(0);
        let fits = |(bucket, count): (usize, &u64)| *count <= held(bucket);
        part.counts.iter().enumerate().all(fits) && part.totals.sum <= self.totals.sum
    }

    /// Returns this histogram without the counts of `other`, which is a part of it. The sum is exact if both sums are,
    /// and never contradicts the remaining buckets. Minimum and maximum are the bounds of the remaining buckets, but
    /// not beyond the minimum and maximum of this histogram.
    ///
    /// # Panics
    /// If a bucket of `other` holds more values: see [`Histogram::contains`].
    pub fn without(&self, other: &Histogram) -> Histogram {
        let mut rest = Histogram::new();
        for (bucket, count) in self.counts.iter().enumerate() {
            let taken = other.counts.get(bucket).copied().unwrap_or(0);
            let left = count.checked_sub(taken).expect("a part of this histogram");
            if left > 0 {
                let (lowest, width) = values_of(bucket);
                rest.record_n(Nanos(lowest), left);
                rest.totals.max = (lowest + (width - 1)).min(self.totals.max);
            }
        }
        let (least, most) = rest.possible_sums();
        rest.totals.sum = self.totals.sum.saturating_sub(other.totals.sum).clamp(least, most);
        rest.totals.min = rest.totals.min.max(self.totals.min);
        rest
    }

    /// Returns the smallest and the largest sum that the values in the buckets can have.
    fn possible_sums(&self) -> (u128, u128) {
        let sum = |value: fn(Nanos, Nanos) -> Nanos| {
            self.buckets().map(|(low, high, n)| u128::from(value(low, high).0) * u128::from(n)).sum()
        };
        (sum(|lowest, _| lowest), sum(|_, highest| highest))
    }

    /// Restores the exact sum, minimum and maximum of counts that were rebuilt from buckets, unless the buckets rule
    /// them out. A sum may be 2 % too large: such sums were once saved for runs whose warm-up was cut off.
    pub fn restore_exact(&mut self, sum_ns: u128, min: Nanos, max: Nanos) {
        if self.totals.count == 0 {
            return;
        }
        let (least, most) = self.possible_sums();
        if (least..=most.saturating_add(most / 50)).contains(&sum_ns) {
            self.totals.sum = sum_ns;
        }
        if bucket_of(min.0) == bucket_of(self.totals.min) {
            self.totals.min = min.0;
        }
        if bucket_of(max.0) == bucket_of(self.totals.max) {
            self.totals.max = max.0;
        }
    }
}

/// Returns the rank of quantile `q` among `n` values: ceil(q·n), at least 1 and at most n.
///
/// The product is lowered by a few units in the last place: 0.99 of 100 is rank 99, though 0.99 is not exact in binary.
pub fn rank_of(q: f64, n: u64) -> u64 {
    let exact = q.clamp(0.0, 1.0) * n as f64;
    let rank = (exact - exact.abs() * 4.0 * f64::EPSILON).ceil();
    (rank as u64).clamp(1.min(n), n)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Generates values of all magnitudes; uniform bits would give only huge ones.
    pub(in crate::record) fn values() -> impl Strategy<Value = u64> {
        (0u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift)
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_values(value in values()) {
            let (lowest, width) = values_of(bucket_of(value));
            prop_assert!(lowest <= value && value - lowest < width);
            prop_assert_eq!(bucket_of(lowest), bucket_of(value));
            prop_assert_eq!(bucket_of(lowest + (width - 1)), bucket_of(value));
            prop_assert!(width == 1 || width as f64 / lowest as f64 <= 1.0 / 1024.0);
        }

        #[test]
        fn buckets_are_those_of_hdrhistogram(values in proptest::collection::vec(0u64..1 << 47, 1..200)) {
            let mut ours = Histogram::new();
            let mut theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1 << 47, 3).unwrap();
            for value in &values {
                ours.record(Nanos(*value));
                theirs.record(*value).unwrap();
            }
            for (lowest, highest, count) in ours.buckets() {
                prop_assert_eq!(theirs.lowest_equivalent(highest.0), lowest.0);
                prop_assert_eq!(theirs.highest_equivalent(lowest.0), highest.0);
                prop_assert_eq!(theirs.count_at(lowest.0), count);
            }
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_values(mut values in proptest::collection::vec(values(), 1..300), q in 0.0..=1.0) {
            let mut histogram = Histogram::new();
            for value in &values {
                histogram.record(Nanos(*value));
            }
            values.sort_unstable();
            let exact = values[(rank_of(q, values.len() as u64) - 1) as usize];
            let answer = histogram.quantile(q).unwrap().0;
            prop_assert!(answer >= exact && bucket_of(answer) == bucket_of(exact));
        }

        #[test]
        fn merging_is_recording_all(a in proptest::collection::vec(values(), 0..100), b in proptest::collection::vec(values(), 0..100)) {
            let of = |values: &[u64]| {
                let mut h = Histogram::new();
                values.iter().for_each(|v| h.record(Nanos(*v)));
                h
            };
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let all = of(&[a.clone(), b.clone()].concat());
            prop_assert!(merged.buckets().eq(all.buckets()));
            prop_assert_eq!((merged.count(), merged.sum_ns(), merged.min(), merged.max()), (all.count(), all.sum_ns(), all.min(), all.max()));
            prop_assert!(all.contains(&of(&b)));
            let rest = all.without(&of(&b));
            prop_assert!(rest.buckets().eq(of(&a).buckets()));
            prop_assert_eq!(rest.sum_ns(), of(&a).sum_ns());
        }
    }

    #[test]
    fn a_part_holds_no_more_than_the_whole() {
        let of = |values: &[(u64, u64)]| {
            let mut histogram = Histogram::new();
            values.iter().for_each(|(value, n)| histogram.record_n(Nanos(*value), *n));
            histogram
        };
        let whole = of(&[(5, 3), (9_000, 2)]);
        for (part, is_part) in [
            (of(&[]), true),
            (of(&[(5, 3)]), true),
            (of(&[(5, 4)]), false),
            (of(&[(9_000, 3)]), false),
            (of(&[(1 << 40, 1)]), false),
        ] {
            assert_eq!(whole.contains(&part), is_part, "{part:?}");
        }
        let mut too_slow = of(&[(9_000, 2)]);
        too_slow.totals.sum = whole.totals.sum + 1;
        assert!(!whole.contains(&too_slow));
    }

    /// The parts of a warm-up are known only by bucket, so their sum is too small.
    #[test]
    fn the_rest_has_a_sum_that_its_buckets_allow() {
        let mut whole = Histogram::new();
        whole.record_n(Nanos(1_048_575), 1_001);
        let (lowest, highest, _) = whole.buckets().next().unwrap();
        let mut head = Histogram::new();
        head.record_n(lowest, 1_000);
        let rest = whole.without(&head);
        assert_eq!((rest.count(), rest.sum_ns()), (1, u128::from(highest.0)));
    }

    #[test]
    fn a_sum_that_the_buckets_rule_out_is_ignored() {
        let mut histogram = Histogram::new();
        histogram.record_n(Nanos(1_000_000), 10);
        let sum = histogram.sum_ns();
        for (given, held) in [(0, sum), (u128::MAX, sum), (sum * 2, sum), (sum + 5, sum + 5)] {
            histogram.restore_exact(given, Nanos(1_000_000), Nanos(1_000_000));
            assert_eq!(histogram.sum_ns(), held);
        }
    }

    #[test]
    fn ranks_do_not_suffer_from_binary_fractions() {
        assert_eq!(rank_of(0.99, 100), 99);
        assert_eq!(rank_of(0.99, 60_000), 59_400);
        assert_eq!(rank_of(0.999, 60_000), 59_940);
        assert_eq!(rank_of(0.9999, 60_000), 59_994);
        assert_eq!(rank_of(0.5, 3), 2);
        assert_eq!(rank_of(0.0, 3), 1);
        assert_eq!(rank_of(1.0, 3), 3);
        assert_eq!(rank_of(0.5, 0), 0);
    }
}
