//! Data by interval of time. Intervals last 1 s, or 2, 4, 8 … s in a long run, so that memory stays bounded.

use std::ops::Range;

use super::{Metric, SparseHistogram};

/// Data of an interval. The data of two intervals can be added without loss and in any order.
pub trait Mergeable: Clone + Default {
    /// Adds the data of another interval.
    fn merge(&mut self, other: &Self);

    /// Adds the data of another interval, and consumes it.
    fn absorb(&mut self, other: Self) {
        self.merge(&other);
    }
}

/// A row for each interval, from the origin of the run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ByInterval<T> {
    /// log2 of the seconds in an interval.
    shift: u32,
    rows: Vec<T>,
}

impl<T> ByInterval<T> {
    /// Creates rows of `width_s` seconds each; `None` if that is not a power of two.
    pub fn from_rows(width_s: u64, rows: Vec<T>) -> Option<ByInterval<T>> {
        width_s.is_power_of_two().then(|| ByInterval { shift: width_s.trailing_zeros(), rows })
    }

    /// Returns the length of each interval, in seconds.
    pub fn width_s(&self) -> u64 {
        1 << self.shift
    }

    /// Returns the rows. Row i holds the arrivals intended in [`ByInterval::seconds_of`] i.
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// Returns the interval of a second, counted from the origin.
    pub fn interval_of(&self, second: usize) -> usize {
        second >> self.shift
    }

    /// Returns the seconds of interval i.
    pub fn seconds_of(&self, i: usize) -> Range<usize> {
        i << self.shift..(i + 1) << self.shift
    }

    /// Returns the row of a second; `None` after the last row.
    pub fn at(&self, second: usize) -> Option<&T> {
        self.rows.get(self.interval_of(second))
    }

    /// Returns true if an interval begins with this second.
    pub fn begins_at(&self, second: usize) -> bool {
        self.seconds_of(self.interval_of(second)).start == second
    }
}

impl<T: Mergeable> ByInterval<T> {
    /// Returns row i, and creates it if it is missing.
    pub(super) fn row_mut(&mut self, i: usize) -> &mut T {
        if i >= self.rows.len() {
            self.rows.resize_with(i + 1, T::default);
        }
        &mut self.rows[i]
    }

    /// Makes the intervals at least `width_s` seconds long, rounded up to a power of two.
    pub fn coarsen_to(&mut self, width_s: u64) {
        let shift = width_s.max(1).next_power_of_two().trailing_zeros();
        let Some(by) = shift.checked_sub(self.shift).filter(|by| *by > 0) else { return };
        let fine = std::mem::take(&mut self.rows);
        self.shift = shift;
        fine.into_iter().enumerate().for_each(|(i, row)| self.row_mut(i >> by).absorb(row));
    }

    /// Adds the rows of another worker. The sum has the longer intervals of the two.
    pub fn merge(&mut self, other: &ByInterval<T>) {
        self.coarsen_to(other.width_s());
        let by = self.shift - other.shift;
        other.rows.iter().enumerate().for_each(|(i, row)| self.row_mut(i >> by).merge(row));
    }

    /// Returns the sum of all rows.
    pub(super) fn sum(&self) -> T {
        self.rows.iter().fold(T::default(), |mut sum, row| {
            sum.merge(row);
            sum
        })
    }

    /// Returns the same intervals, empty before interval `first`.
    pub fn from_interval(&self, first: usize) -> ByInterval<T> {
        let keep = |(i, row): (usize, &T)| if i < first { T::default() } else { row.clone() };
        ByInterval { shift: self.shift, rows: self.rows.iter().enumerate().map(keep).collect() }
    }
}

/// Distributions of the arrivals intended in one interval.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Distributions {
    /// By [`Metric`] number.
    pub metrics: [SparseHistogram; Metric::COUNT],
}

impl Distributions {
    /// Returns the distribution of one metric.
    pub fn metric(&self, metric: Metric) -> &SparseHistogram {
        &self.metrics[metric as usize]
    }

    /// Returns the heap memory in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.metrics.iter().map(SparseHistogram::heap_bytes).sum()
    }
}

impl Mergeable for Distributions {
    fn merge(&mut self, other: &Distributions) {
        self.metrics.iter_mut().zip(&other.metrics).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    fn absorb(&mut self, other: Distributions) {
        self.metrics.iter_mut().zip(other.metrics).for_each(|(mine, theirs)| mine.absorb(theirs));
    }
}

/// Rows during recording. When intervals double, rows are merged in pairs, one row at a time.
#[derive(Clone, Debug)]
pub(super) struct CoarseningIntervals<T> {
    rows: ByInterval<T>,
    /// Rows of half the length that must still be added to `rows`.
    fine: Vec<T>,
}

impl<T: Mergeable> CoarseningIntervals<T> {
    /// Creates rows of 2^`shift` seconds, with room for `most`.
    pub(super) fn new(shift: u32, most: usize) -> CoarseningIntervals<T> {
        CoarseningIntervals { rows: ByInterval { shift, rows: Vec::with_capacity(most) }, fine: Vec::new() }
    }

    pub(super) fn interval_of(&self, second: usize) -> usize {
        self.rows.interval_of(second)
    }

    /// Returns the row of interval i, which may still lack some of its half-intervals.
    pub(super) fn row(&mut self, i: usize) -> &mut T {
        self.rows.row_mut(i)
    }

    /// Returns every row, and the half-intervals that must still be added to one.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows.rows.iter().chain(&self.fine)
    }

    pub(super) fn double(&mut self) {
        while self.fold_one() {}
        std::mem::swap(&mut self.fine, &mut self.rows.rows);
        self.rows.shift += 1;
    }

    pub(super) fn is_folded(&self) -> bool {
        self.fine.is_empty()
    }

    /// Merges the last half-interval into its row; returns false if none is left.
    pub(super) fn fold_one(&mut self) -> bool {
        let Some(row) = self.fine.pop() else { return false };
        self.rows.row_mut(self.fine.len() / 2).absorb(row);
        true
    }

    pub(super) fn finish(mut self) -> ByInterval<T> {
        while self.fold_one() {}
        self.rows
    }
}

impl CoarseningIntervals<Distributions> {
    /// Merges the last half-interval. Takes the bytes of all rows and returns their bytes afterwards.
    pub(super) fn fold_one_counting_bytes(&mut self, bytes: usize) -> usize {
        let Some(row) = self.fine.last() else { return bytes };
        let into = (self.fine.len() - 1) / 2;
        let before = row.heap_bytes() + self.rows.row_mut(into).heap_bytes();
        self.fold_one();
        bytes - before + self.rows.row_mut(into).heap_bytes()
    }
}
