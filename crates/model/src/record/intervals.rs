//! What is kept by interval of time: all intervals of a run are equally long, a power of two of seconds, and get longer
//! where the run does, so that memory stays bounded.

use std::ops::Range;

use super::{Metric, SparseHistogram};

/// What can be kept by interval: what belongs to two of them can be added up, without loss and in any order.
pub trait Fold: Clone + Default {
    /// Adds what another one holds.
    fn merge(&mut self, other: &Self);

    /// As [`Fold::merge`], of one that nobody needs any more.
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
    /// Rows of `width_s` seconds each; `None` where that is no power of two.
    pub fn from_rows(width_s: u64, rows: Vec<T>) -> Option<ByInterval<T>> {
        width_s.is_power_of_two().then(|| ByInterval { shift: width_s.trailing_zeros(), rows })
    }

    /// How long each interval is, in seconds.
    pub fn width_s(&self) -> u64 {
        1 << self.shift
    }

    /// Interval i holds the arrivals intended in [`ByInterval::seconds_of`] it.
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// The interval that a second, counted from the origin, is in.
    pub fn interval_of(&self, second: usize) -> usize {
        second >> self.shift
    }

    /// The seconds of interval i.
    pub fn seconds_of(&self, i: usize) -> Range<usize> {
        i << self.shift..(i + 1) << self.shift
    }

    /// The row of a second; `None` after the last.
    pub fn at(&self, second: usize) -> Option<&T> {
        self.rows.get(self.interval_of(second))
    }

    /// Does an interval begin with this second?
    pub fn begins_at(&self, second: usize) -> bool {
        self.seconds_of(self.interval_of(second)).start == second
    }
}

impl<T: Fold> ByInterval<T> {
    /// Row i, which is made where it is missing.
    pub(super) fn row_mut(&mut self, i: usize) -> &mut T {
        if i >= self.rows.len() {
            self.rows.resize_with(i + 1, T::default);
        }
        &mut self.rows[i]
    }

    /// Makes the intervals `width_s` seconds long, where they are shorter.
    pub fn fold_to(&mut self, width_s: u64) {
        let shift = width_s.max(1).next_power_of_two().trailing_zeros();
        let Some(by) = shift.checked_sub(self.shift).filter(|by| *by > 0) else { return };
        let fine = std::mem::take(&mut self.rows);
        self.shift = shift;
        fine.into_iter().enumerate().for_each(|(i, row)| self.row_mut(i >> by).absorb(row));
    }

    /// Adds the rows of another worker. The sum has the longer intervals of the two.
    pub fn merge(&mut self, other: &ByInterval<T>) {
        self.fold_to(other.width_s());
        let by = self.shift - other.shift;
        other.rows.iter().enumerate().for_each(|(i, row)| self.row_mut(i >> by).merge(row));
    }

    /// The same intervals, with nothing in those before interval `first`.
    pub fn from_interval(&self, first: usize) -> ByInterval<T> {
        let keep = |(i, row): (usize, &T)| if i < first { T::default() } else { row.clone() };
        ByInterval { shift: self.shift, rows: self.rows.iter().enumerate().map(keep).collect() }
    }
}

/// The distributions of the arrivals intended in one interval.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Distributions {
    /// By [`Metric`] number.
    pub metrics: [SparseHistogram; Metric::COUNT],
}

impl Distributions {
    /// The distribution of one metric.
    pub fn metric(&self, metric: Metric) -> &SparseHistogram {
        &self.metrics[metric as usize]
    }

    /// Bytes beside the struct itself.
    pub fn heap_bytes(&self) -> usize {
        self.metrics.iter().map(SparseHistogram::heap_bytes).sum()
    }
}

impl Fold for Distributions {
    fn merge(&mut self, other: &Distributions) {
        self.metrics.iter_mut().zip(&other.metrics).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    fn absorb(&mut self, other: Distributions) {
        self.metrics.iter_mut().zip(other.metrics).for_each(|(mine, theirs)| mine.absorb(theirs));
    }
}

/// Rows that are being recorded. When their intervals double, what is there is folded a little at a time.
#[derive(Clone, Debug)]
pub(super) struct Folding<T> {
    rows: ByInterval<T>,
    /// Rows of intervals half as long that are still to be added to `rows`.
    fine: Vec<T>,
}

impl<T: Fold> Folding<T> {
    /// None, with room for `most` made beforehand.
    pub(super) fn with_room_for(most: usize) -> Folding<T> {
        Folding { rows: ByInterval { shift: 0, rows: Vec::with_capacity(most) }, fine: Vec::new() }
    }

    pub(super) fn interval_of(&self, second: usize) -> usize {
        self.rows.interval_of(second)
    }

    /// The row of interval i: what is recorded from now on, and a part of what was.
    pub(super) fn row(&mut self, i: usize) -> &mut T {
        self.rows.row_mut(i)
    }

    /// The intervals are twice as long from now on.
    pub(super) fn double(&mut self) {
        while self.fold_one() {}
        std::mem::swap(&mut self.fine, &mut self.rows.rows);
        self.rows.shift += 1;
    }

    /// Is every row as long as it should be?
    pub(super) fn is_folded(&self) -> bool {
        self.fine.is_empty()
    }

    /// Adds the last shorter row to the one it is a part of; false where there is none.
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

impl Folding<Distributions> {
    /// As [`Folding::fold_one`]; `bytes` is what all rows take before, and what they take after is the answer.
    pub(super) fn fold_one_of(&mut self, bytes: usize) -> usize {
        let Some(row) = self.fine.last() else { return bytes };
        let into = (self.fine.len() - 1) / 2;
        let before = row.heap_bytes() + self.rows.row_mut(into).heap_bytes();
        self.fold_one();
        bytes - before + self.rows.row_mut(into).heap_bytes()
    }
}
