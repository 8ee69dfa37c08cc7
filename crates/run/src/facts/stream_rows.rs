//! Times and counts of streams by their intended starts.

use std::collections::BTreeMap;

use truetail_model::record::Mergeable;
use truetail_model::time::{Nanos, Timestamp};

use super::stream_time::{StreamTime, StreamTimes};

/// Length of an interval of a short run.
const SHORTEST: Nanos = Nanos::from_millis(250);
/// Limit on the intervals. A longer run has longer intervals.
const MOST: u64 = 240;

/// Streams intended in one interval. Values of streams that have not ended are included, their counts are not.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct StreamRow {
    /// Their times.
    pub times: StreamTimes,
    /// Their counts.
    pub books: StreamRowBooks,
}

/// Counts of streams that have ended.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StreamRowBooks {
    /// Planned streams that have ended, with any outcome.
    pub ended: u64,
    /// Complete streams.
    pub complete: u64,
    /// Answers of language models that met the objectives of each request.
    pub met: u64,
    /// Answers that may have met them: a time that decides is unknown.
    pub cannot_tell: u64,
    /// Answers with an unknown time to the first content.
    pub unknown_first_content: u64,
    /// Gaps between content of unknown length.
    pub unknown_content_gaps: u64,
    /// Complete answers with an unknown time per output token.
    pub unknown_time_per_output_token: u64,
}

impl StreamRowBooks {
    /// Returns the growth since `before`, an earlier state of the same counts.
    #[must_use]
    pub fn since(&self, before: &StreamRowBooks) -> StreamRowBooks {
        let mut grown = *self;
        grown.each(before, u64::saturating_sub);
        grown
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &StreamRowBooks) {
        self.each(other, u64::saturating_add);
    }

    fn each(&mut self, other: &StreamRowBooks, change: impl Fn(u64, u64) -> u64) {
        let pairs = [
            (&mut self.ended, other.ended),
            (&mut self.complete, other.complete),
            (&mut self.met, other.met),
            (&mut self.cannot_tell, other.cannot_tell),
            (&mut self.unknown_first_content, other.unknown_first_content),
            (&mut self.unknown_content_gaps, other.unknown_content_gaps),
            (&mut self.unknown_time_per_output_token, other.unknown_time_per_output_token),
        ];
        pairs.into_iter().for_each(|(mine, theirs)| *mine = change(*mine, theirs));
    }
}

impl Mergeable for StreamRow {
    fn merge(&mut self, other: &StreamRow) {
        self.times.merge(&other.times);
        self.books.add(&other.books);
    }
}

/// A row for each interval of the intended starts, from the origin of the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamRows {
    width: Nanos,
    /// Rows with streams, by number.
    rows: BTreeMap<u64, StreamRow>,
}

impl Default for StreamRows {
    fn default() -> StreamRows {
        StreamRows { width: SHORTEST, rows: BTreeMap::new() }
    }
}

impl StreamRows {
    /// Returns the length of an interval: 250 ms, doubled as often as the length of the run requires.
    pub fn width(&self) -> Nanos {
        self.width
    }

    /// Returns true if there is no stream.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the row of streams intended at `at`.
    pub fn at(&mut self, at: Timestamp) -> &mut StreamRow {
        while at.0 / self.width.0 >= MOST {
            self.double();
        }
        self.rows.entry(at.0 / self.width.0).or_default()
    }

    /// Records a time of a stream intended at `at`.
    pub fn record(&mut self, at: Timestamp, time: StreamTime, value: Nanos) {
        self.at(at).times.get_mut(time).record_n(value, 1);
    }

    /// Returns the first `count` rows in order, with empty rows between them.
    pub fn first(&self, count: u64) -> Vec<StreamRow> {
        (0..count).map(|number| self.rows.get(&number).cloned().unwrap_or_default()).collect()
    }

    /// Returns the number of rows up to the last one with a stream.
    pub fn count(&self) -> u64 {
        self.rows.last_key_value().map_or(0, |(last, _)| last + 1)
    }

    /// Returns the sum of all rows.
    pub fn sum(&self) -> StreamRow {
        let mut sum = StreamRow::default();
        self.rows.values().for_each(|row| sum.merge(row));
        sum
    }

    /// Adds the rows of another part of the run. The sum has the longer intervals of the two.
    pub fn merge(&mut self, other: &StreamRows) {
        while self.width < other.width {
            self.double();
        }
        for (number, row) in &other.rows {
            self.rows.entry(number * other.width.0 / self.width.0).or_default().merge(row);
        }
    }

    fn double(&mut self) {
        self.width = Nanos(self.width.0 * 2);
        for (number, row) in std::mem::take(&mut self.rows) {
            self.rows.entry(number / 2).or_default().absorb(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(starts_ms: &[u64]) -> StreamRows {
        let mut rows = StreamRows::default();
        for start in starts_ms {
            rows.record(Timestamp(start * 1_000_000), StreamTime::FirstEvent, Nanos(*start));
        }
        rows
    }

    #[test]
    fn a_long_run_has_longer_intervals_and_loses_nothing() {
        let rows = rows(&[0, 249, 250, 59_999, 60_000, 240_000]);
        assert_eq!(rows.width(), Nanos::from_millis(2_000));
        let counts: Vec<u64> =
            rows.first(rows.count()).iter().map(|row| row.times.get(StreamTime::FirstEvent).count()).collect();
        assert_eq!((counts[0], counts[29], counts[30], counts[120]), (3, 1, 1, 1));
        assert_eq!(rows.sum().times.get(StreamTime::FirstEvent).count(), 6);
    }

    #[test]
    fn parts_add_up_to_the_whole_in_any_order() {
        let whole = rows(&[10, 400, 700, 61_000, 100_000]);
        for parts in [[&[10, 700][..], &[400, 61_000, 100_000]], [&[100_000], &[10, 400, 700, 61_000]]] {
            let mut sum = rows(parts[0]);
            sum.merge(&rows(parts[1]));
            assert_eq!(sum, whole);
        }
    }

    #[test]
    fn counts_grow_since_an_earlier_state() {
        let before = StreamRowBooks { ended: 3, met: 2, ..StreamRowBooks::default() };
        let now = StreamRowBooks { ended: 5, met: 2, cannot_tell: 1, ..StreamRowBooks::default() };
        assert_eq!(now.since(&before), StreamRowBooks { ended: 2, cannot_tell: 1, ..StreamRowBooks::default() });
    }
}
