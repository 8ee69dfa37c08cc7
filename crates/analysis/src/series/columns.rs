//! Recorded arrivals of each column.

use std::borrow::Cow;
use std::ops::Range;

use truetail_model::record::{Distributions, Metric, RequestRecord, Snapshot, SparseHistogram};
use truetail_model::time::Nanos;

use super::time_axis::Grid;

pub(super) struct Columns<'a> {
    cut: ArrivalTimes<'a>,
    snapshot: &'a Snapshot,
}

enum ArrivalTimes<'a> {
    /// Every arrival, in the order of the intended starts, and the range of each column.
    Each(&'a [RequestRecord], Vec<Range<usize>>),
    /// Distributions of intervals, and the range of each column.
    Rows(&'a [Distributions], Vec<Range<usize>>),
    /// Nothing is known by time.
    Unknown,
}

/// Values of a metric in one column, in nanoseconds.
pub(super) enum Values<'a> {
    /// Every value, in ascending order.
    Each(Vec<u64>),
    /// Values by bucket, and the largest value of the whole run.
    Buckets(Cow<'a, SparseHistogram>, u64),
}

impl<'a> Columns<'a> {
    /// Divides a run into columns. `every` holds all arrivals, if they are known.
    pub(super) fn new(grid: Grid, snapshot: &'a Snapshot, every: Option<&'a [RequestRecord]>) -> Columns<'a> {
        let rows = snapshot.intervals.rows();
        let cut = match every {
            Some(records) => {
                let first_of = |i: usize| records.partition_point(|record| record.intended_start < grid.begin(i));
                ArrivalTimes::Each(records, ranges(&grid, records.len(), first_of))
            }
            None if rows.is_empty() => ArrivalTimes::Unknown,
            None => {
                let first_of = |i: usize| snapshot.intervals.interval_of(grid.begin(i).second()).min(rows.len());
                ArrivalTimes::Rows(rows, ranges(&grid, rows.len(), first_of))
            }
        };
        Columns { cut, snapshot }
    }

    /// Values of `metric` in each column. Empty if they are not known by time.
    pub(super) fn values(&self, metric: Metric) -> Vec<Values<'a>> {
        match &self.cut {
            ArrivalTimes::Each(records, ranges) => {
                ranges.iter().map(|range| Values::Each(sorted(&records[range.clone()], metric))).collect()
            }
            ArrivalTimes::Rows(rows, ranges) => {
                let most = self.snapshot.metric(metric).max().map_or(u64::MAX, |max| max.0);
                ranges.iter().map(|range| Values::Buckets(merged(&rows[range.clone()], metric), most)).collect()
            }
            ArrivalTimes::Unknown => Vec::new(),
        }
    }

    pub(super) fn unanswered(&self) -> Vec<u64> {
        let censored = self.totals(Metric::Censored);
        censored.iter().zip(self.totals(Metric::Failed)).map(|(censored, failed)| censored.0 + failed.0).collect()
    }

    /// Count and sum (ns) of the values of `metric` in each column. Sums from histograms are exact to 0.1 %.
    pub(super) fn totals(&self, metric: Metric) -> Vec<(u64, u128)> {
        let add = |(count, sum): (u64, u128), (value, n): (Nanos, u64)| {
            (count + n, sum + u128::from(value.0) * u128::from(n))
        };
        match &self.cut {
            ArrivalTimes::Each(records, ranges) => {
                let values = |range: &Range<usize>| records[range.clone()].iter().filter_map(metric.reader());
                ranges.iter().map(|range| values(range).map(|value| (value, 1)).fold((0, 0), add)).collect()
            }
            ArrivalTimes::Rows(rows, ranges) => {
                let values =
                    |range: &Range<usize>| rows[range.clone()].iter().flat_map(|row| row.metric(metric).buckets());
                ranges.iter().map(|range| values(range).fold((0, 0), add)).collect()
            }
            ArrivalTimes::Unknown => Vec::new(),
        }
    }
}

/// Ranges of the entries 0..`all` by column. The first and last column include everything outside.
fn ranges(grid: &Grid, all: usize, first_of: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    let mut firsts: Vec<usize> = (0..grid.columns()).map(first_of).collect();
    firsts[0] = 0;
    let lasts = firsts[1..].iter().copied().chain([all]);
    firsts.iter().copied().zip(lasts).map(|(first, last)| first..last).collect()
}

fn sorted(records: &[RequestRecord], metric: Metric) -> Vec<u64> {
    let mut values: Vec<u64> = records.iter().filter_map(metric.reader()).map(|time| time.0).collect();
    values.sort_unstable();
    values
}

fn merged(rows: &[Distributions], metric: Metric) -> Cow<'_, SparseHistogram> {
    match rows {
        [row] => Cow::Borrowed(row.metric(metric)),
        rows => {
            let mut all = SparseHistogram::default();
            rows.iter().for_each(|row| all.merge(row.metric(metric)));
            Cow::Owned(all)
        }
    }
}

impl Values<'_> {
    pub(super) fn count(&self) -> u64 {
        match self {
            Values::Each(values) => values.len() as u64,
            Values::Buckets(histogram, _) => histogram.count(),
        }
    }

    /// Value at `rank`, counted from 1. `None` above the count.
    pub(super) fn at_rank(&self, rank: u64) -> Option<u64> {
        match self {
            Values::Each(values) => values.get(usize::try_from(rank.checked_sub(1)?).ok()?).copied(),
            Values::Buckets(histogram, most) => histogram.value_at_rank(rank).map(|value| value.0.min(*most)),
        }
    }

    /// Calls `each` with each value and its count, in ascending order. Values from histograms are exact to 0.1 %.
    pub(super) fn each(&self, mut each: impl FnMut(u64, u64)) {
        match self {
            Values::Each(values) => values.iter().for_each(|value| each(*value, 1)),
            Values::Buckets(histogram, most) => {
                histogram.buckets().for_each(|(lowest, count)| each(lowest.0.min(*most), count));
            }
        }
    }

    pub(super) fn extremes(&self) -> Option<(u64, u64)> {
        Some((self.at_rank(1)?, self.at_rank(self.count())?))
    }
}
