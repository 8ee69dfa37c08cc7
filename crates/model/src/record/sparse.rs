//! Compact histograms, one for each interval and metric: only buckets in use, in as few bytes as their counts need.

use super::exact_statistics::ExactStatistics;
use super::histogram::{BUCKETS, bucket_of, values_of};
use crate::time::Nanos;

/// Counts of values in the buckets of a [`Histogram`](super::Histogram) that are in use. A bucket takes two bytes, plus
/// one, two, four or eight bytes for its count, as the largest count of all needs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SparseHistogram {
    /// Ascending.
    buckets: Vec<u16>,
    counts: Counts,
}

/// A histogram with fewer than one in this many of another's buckets is added in place.
const FEW: usize = 16;

const _: () = assert!(BUCKETS <= 1 << u16::BITS, "every bucket has a number of two bytes");

impl SparseHistogram {
    fn with_room_for(buckets: usize, highest_count: u64) -> SparseHistogram {
        SparseHistogram { buckets: Vec::with_capacity(buckets), counts: Counts::with_room_for(buckets, highest_count) }
    }

    /// Adds `n` to the bucket of `value`.
    pub fn record_n(&mut self, value: Nanos, n: u64) {
        if n > 0 {
            self.add(bucket_of(value.0) as u16, n);
        }
    }

    fn add(&mut self, bucket: u16, n: u64) {
        match self.buckets.binary_search(&bucket) {
            Ok(i) => self.counts.set(i, self.counts.get(i) + n),
            Err(i) => {
                self.buckets.insert(i, bucket);
                self.counts.insert(i, n);
            }
        }
    }

    /// Adds a bucket that is above all others.
    fn push(&mut self, bucket: u16, n: u64) {
        self.buckets.push(bucket);
        self.counts.insert(self.buckets.len() - 1, n);
    }

    /// Returns the number of recorded values.
    pub fn count(&self) -> u64 {
        self.counts.sum()
    }

    /// Returns true if nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Returns the value at rank `rank` (from 1): the highest of its bucket. `None` if `rank` is 0 or above the count.
    pub fn value_at_rank(&self, rank: u64) -> Option<Nanos> {
        let mut seen = 0;
        self.entries().find_map(|(bucket, count)| {
            seen += count;
            let (lowest, width) = values_of(usize::from(bucket));
            (seen >= rank && rank > 0).then(|| Nanos(lowest + (width - 1)))
        })
    }

    /// Returns the buckets in use: (lowest value, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        self.entries().map(|(bucket, count)| (Nanos(values_of(usize::from(bucket)).0), count))
    }

    /// Returns the buckets in use: (number, count), ascending.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.buckets.iter().enumerate().map(|(i, bucket)| (*bucket, self.counts.get(i)))
    }

    /// Adds all counts of another histogram, without loss.
    pub fn merge(&mut self, other: &SparseHistogram) {
        if self.is_empty() {
            self.clone_from(other);
        } else if other.buckets.len() < self.buckets.len() / FEW {
            self.add_few(other);
        } else if !other.is_empty() {
            *self = self.with(other);
        }
    }

    pub(super) fn absorb(&mut self, other: SparseHistogram) {
        if self.is_empty() { *self = other } else { self.merge(&other) }
    }

    /// Adds a much smaller histogram bucket by bucket, without spare capacity for further buckets.
    fn add_few(&mut self, other: &SparseHistogram) {
        let is_new = |bucket: &&u16| self.buckets.binary_search(bucket).is_err();
        let new = other.buckets.iter().filter(is_new).count();
        self.buckets.reserve_exact(new);
        self.counts.reserve_exact(new);
        other.entries().for_each(|(bucket, n)| self.add(bucket, n));
    }

    /// Returns the sum of both, without spare capacity.
    fn with(&self, other: &SparseHistogram) -> SparseHistogram {
        let highest = self.counts.highest().max(other.counts.highest());
        let mut sum = SparseHistogram::with_room_for(union(&self.buckets, &other.buckets), highest);
        let mut mine = self.entries().peekable();
        let mut theirs = other.entries().peekable();
        loop {
            let (bucket, n) = match (mine.peek(), theirs.peek()) {
                (Some(&(a, n)), Some(&(b, m))) if a == b => {
                    mine.next();
                    theirs.next();
                    (a, n + m)
                }
                (Some(a), Some(b)) => if a.0 < b.0 { mine.next() } else { theirs.next() }.expect("peeked"),
                (Some(_), None) => mine.next().expect("peeked"),
                (None, Some(_)) => theirs.next().expect("peeked"),
                (None, None) => return sum,
            };
            sum.push(bucket, n);
        }
    }

    /// Returns the heap memory in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<u16>() + self.counts.heap_bytes()
    }
}

/// Returns the number of distinct values in two ascending lists.
fn union(a: &[u16], b: &[u16]) -> usize {
    let mut i = 0;
    let mut j = 0;
    let mut common = 0;
    while i < a.len() && j < b.len() {
        let x = a[i];
        let y = b[j];
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    a.len() + b.len() - common
}

/// Counts, each in as many bytes as the largest needs.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Counts {
    One(Vec<u8>),
    Two(Vec<u16>),
    Four(Vec<u32>),
    Eight(Vec<u64>),
}

impl Default for Counts {
    fn default() -> Counts {
        Counts::One(Vec::new())
    }
}

/// Runs an expression on the list of counts, of any width.
macro_rules! each {
    ($counts:expr, $list:ident => $do:expr) => {
        match $counts {
            Counts::One($list) => $do,
            Counts::Two($list) => $do,
            Counts::Four($list) => $do,
            Counts::Eight($list) => $do,
        }
    };
}

impl Counts {
    fn with_room_for(n: usize, highest: u64) -> Counts {
        match highest {
            0..=0xFF => Counts::One(Vec::with_capacity(n)),
            0x100..=0xFFFF => Counts::Two(Vec::with_capacity(n)),
            0x1_0000..=0xFFFF_FFFF => Counts::Four(Vec::with_capacity(n)),
            _ => Counts::Eight(Vec::with_capacity(n)),
        }
    }

    fn reserve_exact(&mut self, n: usize) {
        each!(self, list => list.reserve_exact(n));
    }

    fn get(&self, i: usize) -> u64 {
        #[allow(clippy::useless_conversion, reason = "one of the four is a u64 already")]
        {
            each!(self, list => u64::from(list[i]))
        }
    }

    fn set(&mut self, i: usize, n: u64) {
        self.make_fit(n);
        each!(self, list => list[i] = n as _);
    }

    fn insert(&mut self, i: usize, n: u64) {
        self.make_fit(n);
        each!(self, list => list.insert(i, n as _));
    }

    fn most(&self) -> u64 {
        match self {
            Counts::One(_) => u64::from(u8::MAX),
            Counts::Two(_) => u64::from(u16::MAX),
            Counts::Four(_) => u64::from(u32::MAX),
            Counts::Eight(_) => u64::MAX,
        }
    }

    fn make_fit(&mut self, n: u64) {
        if n > self.most() {
            self.widen(n);
        }
    }

    #[cold]
    fn widen(&mut self, n: u64) {
        let mut wider = Counts::with_room_for(each!(self, list => list.capacity()), n);
        (0..each!(self, list => list.len())).for_each(|i| wider.insert(i, self.get(i)));
        *self = wider;
    }

    fn sum(&self) -> u64 {
        (0..each!(self, list => list.len())).map(|i| self.get(i)).sum()
    }

    fn highest(&self) -> u64 {
        (0..each!(self, list => list.len())).map(|i| self.get(i)).max().unwrap_or(0)
    }

    fn heap_bytes(&self) -> usize {
        each!(self, list => list.capacity() * size_of_val(list.first().unwrap_or(&0)))
    }
}

/// Dense histogram for the hot path, flushed into a [`SparseHistogram`] when its interval is over. A bucket counts up
/// to `u32::MAX`; the recorder flushes the histogram before a bucket could hold more.
#[derive(Clone, Default, Debug)]
pub(super) struct HotHistogram {
    counts: Vec<u32>,
    totals: ExactStatistics,
}

impl HotHistogram {
    /// Creates an empty histogram with room for values up to `highest`. Higher values are recorded too, but allocate.
    pub(super) fn with_room_for(highest: Nanos) -> HotHistogram {
        HotHistogram { counts: vec![0; bucket_of(highest.0) + 1], ..HotHistogram::default() }
    }

    /// Returns the count of the bucket of `value`.
    #[inline]
    pub(super) fn count_of(&self, value: Nanos) -> u32 {
        self.counts.get(bucket_of(value.0)).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn record(&mut self, value: Nanos) {
        self.record_n(value, 1);
    }

    #[inline]
    pub(super) fn record_n(&mut self, value: Nanos, n: u32) {
        let bucket = bucket_of(value.0);
        match self.counts.get_mut(bucket) {
            Some(count) => *count += n,
            None => self.append(bucket, n),
        }
        self.totals.add(value, u64::from(n));
    }

    /// Makes room for a bucket with `n` values. Kept out of line, so that the hot path stays short.
    #[cold]
    #[inline(never)]
    fn append(&mut self, bucket: usize, n: u32) {
        self.counts.resize(bucket, 0);
        self.counts.push(n);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.totals.count == 0
    }

    /// Moves all counts to `into` and returns their exact statistics. Keeps its memory.
    pub(super) fn flush_into(&mut self, into: &mut SparseHistogram) -> ExactStatistics {
        let totals = std::mem::take(&mut self.totals);
        if totals.count == 0 {
            return totals;
        }
        let low = bucket_of(totals.min);
        let high = bucket_of(totals.max);
        let used = &mut self.counts[low..=high];
        let in_use = used.iter().filter(|count| **count > 0).count();
        let highest = used.iter().copied().max().unwrap_or(0);
        let mut cooled = SparseHistogram::with_room_for(in_use, u64::from(highest));
        for (i, count) in used.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            cooled.push((low + i) as u16, u64::from(std::mem::take(count)));
        }
        into.absorb(cooled);
        totals
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::histogram::rank_of;
    use super::super::histogram::tests::values;
    use super::*;

    /// Generates values and their counts: mostly small, some too large for four bytes.
    fn counted() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let count = prop_oneof![6 => 1u64..300, 1 => 1u64..100_000, 1 => (1u64 << 31)..(1 << 34)];
        proptest::collection::vec((values().prop_map(|value| value >> 20), count), 0..150)
    }

    fn sparse(values: &[(u64, u64)]) -> SparseHistogram {
        let mut sparse = SparseHistogram::default();
        values.iter().for_each(|(value, n)| sparse.record_n(Nanos(*value), *n));
        sparse
    }

    fn model(values: &[(u64, u64)]) -> Vec<(Nanos, u64)> {
        let mut model = BTreeMap::new();
        for (value, n) in values {
            *model.entry(Nanos(values_of(bucket_of(*value)).0)).or_default() += n;
        }
        model.into_iter().collect()
    }

    proptest! {
        #[test]
        fn it_holds_what_was_recorded(values in counted()) {
            let sparse = sparse(&values);
            prop_assert!(sparse.buckets().eq(model(&values)));
            prop_assert_eq!(sparse.count(), values.iter().map(|(_, n)| n).sum::<u64>());
        }

        #[test]
        fn merging_is_recording_all_and_leaves_no_trace(a in counted(), b in counted()) {
            let all = sparse(&[a.clone(), b.clone()].concat());
            let mut ab = sparse(&a);
            let mut ba = sparse(&b);
            ab.merge(&sparse(&b));
            ba.absorb(sparse(&a));
            prop_assert_eq!(&ab, &all);
            prop_assert_eq!(&ba, &all);
        }

        #[test]
        fn ranks_are_those_of_the_sorted_values(mut values in proptest::collection::vec(values(), 1..300), q in 0.0..=1.0) {
            let sparse = sparse(&values.iter().map(|value| (*value, 1)).collect::<Vec<_>>());
            values.sort_unstable();
            let rank = rank_of(q, values.len() as u64);
            let exact = values[(rank - 1) as usize];
            prop_assert_eq!(bucket_of(sparse.value_at_rank(rank).unwrap().0), bucket_of(exact));
        }

        #[test]
        fn cooling_loses_nothing(values in proptest::collection::vec(values().prop_map(|v| v >> 20), 0..600)) {
            let mut hot = HotHistogram::default();
            let mut cooled = SparseHistogram::default();
            let mut totals = ExactStatistics::default();
            let mut all = ExactStatistics::default();
            for (i, value) in values.iter().enumerate() {
                hot.record(Nanos(*value));
                all.add(Nanos(*value), 1);
                if i % 50 == 0 {
                    totals.merge(&hot.flush_into(&mut cooled));
                }
            }
            totals.merge(&hot.flush_into(&mut cooled));
            prop_assert_eq!(totals, all);
            prop_assert_eq!(cooled, sparse(&values.iter().map(|value| (*value, 1)).collect::<Vec<_>>()));
        }
    }

    #[test]
    fn a_bucket_takes_three_bytes_where_its_count_is_small() {
        let mut hot = HotHistogram::default();
        (0..2_000).for_each(|value| hot.record(Nanos(value)));
        let mut cooled = SparseHistogram::default();
        hot.flush_into(&mut cooled);
        assert_eq!(cooled.heap_bytes(), 3 * 2_000);
        let twice = cooled.with(&cooled);
        assert_eq!(twice.heap_bytes(), 3 * 2_000, "no room for what does not come");
    }
}
