//! Records by interval, in bounded memory for a run of any length.
//!
//! Intervals are one second long at first. At [`MAX_INTERVALS`] intervals, or [`MAX_BYTES`] of distributions, all
//! become twice as long. Two rows are merged each second, so the run never stops for it.

use std::array;

use super::exact_statistics::ExactStatistics;
use super::intervals::{ByInterval, CoarseningIntervals, Distributions};
use super::seconds::{MAX_ROWS, row_of};
use super::sparse::HotHistogram;
use super::{Histogram, IntervalBooks, Metric, RequestRecord, Tally};
use crate::time::{Nanos, Timestamp};

/// Number of intervals at which their length doubles. The analysis of dependence needs four for each of its stretches.
const MAX_INTERVALS: usize = 512;
/// Bytes of distributions at which the length of intervals doubles. They may take more during merging.
const MAX_BYTES: usize = 16 << 20;
/// Number of newest intervals, which are kept in dense form.
const HOT: usize = 2;
/// Number of records that surely fit in dense form, because its buckets count in 32 bits.
const MAX_DENSE_RECORDS: u32 = u32::MAX;
/// Number of rows that are merged each second.
const FOLDED_AT_ONCE: usize = 2;

/// Distributions and books by interval, during a run.
#[derive(Clone, Debug)]
pub(super) struct IntervalRecorder {
    distributions: CoarseningIntervals<Distributions>,
    books: CoarseningIntervals<IntervalBooks>,
    /// Dense histograms of the newest intervals, by number modulo [`HOT`].
    hot: [[HotHistogram; Metric::COUNT]; HOT],
    /// Totals of everything that is not in dense form.
    totals: [ExactStatistics; Metric::COUNT],
    /// Number of records until the dense intervals are flushed.
    records_until_flush: u32,
    newest: usize,
    /// Second after the newest one.
    next_second: usize,
    /// Bytes of the distributions, without the dense ones.
    bytes: usize,
}

impl IntervalRecorder {
    /// Creates a recorder with room for `expected` seconds, and in dense form for times up to `highest`.
    pub(super) fn new(expected: usize, highest: Nanos) -> IntervalRecorder {
        IntervalRecorder::with_intervals(0, expected.min(MAX_INTERVALS), highest)
    }

    /// Creates a recorder with one interval that never ends, in dense form for times up to `highest`.
    pub(super) fn undivided(highest: Nanos) -> IntervalRecorder {
        IntervalRecorder::with_intervals(MAX_ROWS.ilog2(), 1, highest)
    }

    fn with_intervals(shift: u32, room: usize, highest: Nanos) -> IntervalRecorder {
        IntervalRecorder {
            distributions: CoarseningIntervals::new(shift, room),
            books: CoarseningIntervals::new(shift, room),
            hot: array::from_fn(|_| array::from_fn(|_| HotHistogram::with_room_for(highest))),
            totals: [ExactStatistics::default(); Metric::COUNT],
            records_until_flush: MAX_DENSE_RECORDS,
            newest: 0,
            next_second: 1,
            bytes: 0,
        }
    }

    #[inline]
    pub(super) fn plan(&mut self, intended_start: Timestamp) {
        let interval = self.interval_for(intended_start);
        self.books.row(interval).tally.plan(1);
    }

    #[inline]
    pub(super) fn prefetch(&self, record: &RequestRecord) -> u32 {
        let hot = &self.hot[self.books.interval_of(row_of(record.intended_start.second())) % HOT];
        let mut seen = 0u32;
        record.times(|metric, time| seen = seen.wrapping_add(hot[metric as usize].count_of(time)));
        seen
    }

    #[inline]
    pub(super) fn record(&mut self, record: &RequestRecord) {
        let interval = self.interval_for(record.intended_start);
        self.books.row(interval).count(record);
        if self.newest - interval < HOT {
            let hot = &mut self.hot[interval % HOT];
            record.times(|metric, time| hot[metric as usize].record(time));
            self.records_until_flush -= 1;
            if self.records_until_flush == 0 {
                self.cool_all();
            }
        } else {
            self.record_cold(interval, record, 1);
        }
    }

    /// Records `n` never-issued arrivals, each with the times of `record`.
    pub(super) fn record_unissued(&mut self, record: &RequestRecord, n: u64) {
        let interval = self.interval_for(record.intended_start);
        let books = self.books.row(interval);
        books.tally.plan_unissued(n);
        books.last_end = books.last_end.max(record.end);
        self.record_cold(interval, record, n);
    }

    /// Records the times of a connection that was opened before the load in the first interval.
    pub(super) fn record_opening(&mut self, connect: Nanos, tls_handshake: Option<Nanos>) {
        let times = [(Metric::ConnectTime, Some(connect)), (Metric::TlsHandshakeTime, tls_handshake)];
        for (metric, time) in times.into_iter().filter_map(|(metric, time)| Some((metric, time?))) {
            self.add_cold(0, metric, time, 1);
        }
    }

    /// Records `n` arrivals with the times of `record` in compact form, which is the only form of older intervals.
    #[inline(never)]
    fn record_cold(&mut self, interval: usize, record: &RequestRecord, n: u64) {
        record.times(|metric, time| self.add_cold(interval, metric, time, n));
    }

    #[inline]
    fn add_cold(&mut self, interval: usize, metric: Metric, time: Nanos, n: u64) {
        let times = &mut self.distributions.row(interval).metrics[metric as usize];
        let before = times.heap_bytes();
        times.record_n(time, n);
        self.totals[metric as usize].add(time, n);
        self.bytes += times.heap_bytes() - before;
    }

    /// Returns the interval of an instant. A newer one becomes the newest.
    #[inline]
    fn interval_for(&mut self, instant: Timestamp) -> usize {
        let second = row_of(instant.second());
        if second >= self.next_second {
            self.advance(second);
        }
        self.books.interval_of(second)
    }

    #[cold]
    #[inline(never)]
    fn advance(&mut self, second: usize) {
        self.next_second = second + 1;
        self.make_newest(self.books.interval_of(second));
        (0..FOLDED_AT_ONCE).for_each(|_| self.fold_one());
        while self.newest >= MAX_INTERVALS || self.takes_too_much() {
            self.double();
        }
    }

    fn takes_too_much(&self) -> bool {
        self.bytes > MAX_BYTES && self.newest > 0 && self.distributions.is_folded()
    }

    fn make_newest(&mut self, newest: usize) {
        let first_hot = (newest + 1).saturating_sub(HOT);
        self.hot_intervals().filter(|interval| *interval < first_hot).for_each(|interval| self.cool(interval));
        self.newest = newest;
    }

    fn hot_intervals(&self) -> std::ops::RangeInclusive<usize> {
        (self.newest + 1).saturating_sub(HOT)..=self.newest
    }

    fn cool(&mut self, interval: usize) {
        // An interval without records gets no row.
        if self.hot[interval % HOT].iter().all(HotHistogram::is_empty) {
            return;
        }
        let row = self.distributions.row(interval);
        let before = row.heap_bytes();
        for ((hot, cold), totals) in self.hot[interval % HOT].iter_mut().zip(&mut row.metrics).zip(&mut self.totals) {
            totals.merge(&hot.flush_into(cold));
        }
        self.bytes = self.bytes + row.heap_bytes() - before;
    }

    fn fold_one(&mut self) {
        self.books.fold_one();
        self.bytes = self.distributions.fold_one_counting_bytes(self.bytes);
    }

    /// Flushes the dense intervals, which stay dense.
    #[cold]
    #[inline(never)]
    fn cool_all(&mut self) {
        self.hot_intervals().for_each(|interval| self.cool(interval));
        self.records_until_flush = MAX_DENSE_RECORDS;
    }

    fn double(&mut self) {
        self.cool_all();
        while !self.distributions.is_folded() {
            self.fold_one();
        }
        self.distributions.double();
        self.books.double();
        self.newest /= 2;
    }

    /// Returns the tally of all intervals.
    pub(super) fn tally(&self) -> Tally {
        self.books.iter().fold(Tally::default(), |mut sum, row| {
            sum.merge(&row.tally);
            sum
        })
    }

    /// Returns distributions and books by interval, and the distributions of the whole run, the sum of its intervals.
    pub(super) fn finish(
        mut self,
    ) -> (ByInterval<Distributions>, ByInterval<IntervalBooks>, [Histogram; Metric::COUNT]) {
        self.cool_all();
        let distributions = self.distributions.finish();
        let mut whole = self.totals.map(Histogram::with_totals);
        for of_interval in distributions.rows() {
            whole.iter_mut().zip(&of_interval.metrics).for_each(|(whole, part)| whole.add_buckets(part.entries()));
        }
        (distributions, self.books.finish(), whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrival::Arrival;

    /// Records after the last second that has its own row, when no second is ever newer.
    #[test]
    fn counts_never_overflow_in_a_long_run() {
        let late = Timestamp::ZERO + Nanos::from_secs(13 * 86_400);
        let arrival = Arrival { index: 0, intended_start: late };
        let time = Nanos(5);
        let record = RequestRecord::never_issued(arrival, late + time);
        let mut recorder = IntervalRecorder::new(1, Nanos::ZERO);
        recorder.record(&record);
        // As if enough had been recorded since then that only three more records fit.
        let interval = recorder.newest;
        recorder.hot[interval % HOT][Metric::Censored as usize].record_n(time, MAX_DENSE_RECORDS - 4);
        recorder.records_until_flush = 3;
        let emptied = [(); 5].map(|()| {
            recorder.record(&record);
            recorder.hot[interval % HOT].iter().all(HotHistogram::is_empty)
        });
        assert_eq!(emptied, [false, false, true, false, false]);
        let (distributions, _, _) = recorder.finish();
        assert_eq!(distributions.rows()[interval].metric(Metric::Censored).count(), u64::from(MAX_DENSE_RECORDS) + 2);
    }
}
