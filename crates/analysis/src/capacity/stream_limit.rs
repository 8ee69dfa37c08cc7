//! Objectives about streams: bad streams, and bad values of streams, by stretch.

use truetail_model::record::CompactHistogram;
use truetail_model::time::Timestamp;
use truetail_run::{StreamRow, StreamRows, StreamTime};

use super::sample::{Sample, Stretch, below_bucket};
use crate::confidence_interval::less_rare;
use crate::streams::StreamMetric;

/// Definition of a bad stream, or of a bad value of a stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum StreamLimit {
    /// Values that are this long or longer, and one for each stream that did not bring its value.
    Time {
        metric: StreamMetric,
        /// Shortest bad value, in nanoseconds.
        from_ns: u64,
    },
    /// Streams that were not complete.
    Incomplete,
    /// Requests to a language model that did not meet the objectives of each request.
    Goodput,
}

/// Values of one metric in a row.
struct Values<'a> {
    known: &'a CompactHistogram,
    /// Streams that did not bring a value, or gaps that no event ended.
    missing: u64,
    /// Values about which nothing is known.
    unknown: u64,
}

impl StreamLimit {
    pub(super) fn is_about_llm(self) -> bool {
        match self {
            StreamLimit::Time { metric, .. } => metric.is_of_llm(),
            StreamLimit::Incomplete => false,
            StreamLimit::Goodput => true,
        }
    }

    /// Sample of the streams intended before `before`.
    pub(super) fn sample(self, rows: &StreamRows, before: Timestamp, allowed: f64) -> Sample {
        let rows = whole_rows(rows, before);
        let near_from = self.near_level(&rows, allowed);
        Sample::from_rows(&rows.iter().map(|row| self.stretch(row, near_from)).collect::<Vec<_>>())
    }

    /// Sample of an unfinished run with `due` streams before `before`. Streams that have not ended are outstanding,
    /// each with as many values as the others have.
    pub(super) fn sample_so_far(self, rows: &StreamRows, before: Timestamp, due: u64, allowed: f64) -> Sample {
        let ended: u64 = whole_rows(rows, before).iter().map(|row| row.books.ended).sum();
        let sample = self.sample(rows, before, allowed);
        let values_of_each = sample.whole.requests.div_ceil(ended.max(1)).max(1);
        Sample { outstanding: due.saturating_sub(ended).saturating_mul(values_of_each), ..sample }
    }

    /// Counts a row. The bucket that holds the limit counts as bad, but not as surely bad.
    fn stretch(self, row: &StreamRow, near_from: u64) -> Stretch {
        let books = row.books;
        match self {
            StreamLimit::Time { metric, from_ns } => {
                let Values { known, missing, unknown } = Values::of(metric, row);
                let beyond = |from: u64| known.buckets().filter(|(low, _)| low.0 >= from).map(|(_, n)| n).sum::<u64>();
                Stretch {
                    requests: known.count() + missing + unknown,
                    bad: beyond(below_bucket(from_ns)) + missing + unknown,
                    surely_bad: beyond(from_ns) + missing,
                    near: beyond(below_bucket(near_from)) + missing + unknown,
                }
            }
            StreamLimit::Incomplete => Stretch::of_share(books.ended, books.ended.saturating_sub(books.complete), 0),
            StreamLimit::Goodput => {
                let missed = books.ended.saturating_sub(books.met);
                Stretch::of_share(books.ended, missed, books.cannot_tell)
            }
        }
    }

    /// Level that about ten times the allowed share of known values reaches, at most the limit.
    fn near_level(self, rows: &[StreamRow], allowed: f64) -> u64 {
        let StreamLimit::Time { metric, from_ns } = self else { return 0 };
        let mut all = CompactHistogram::default();
        rows.iter().for_each(|row| all.merge(Values::of(metric, row).known));
        let near = all.to_histogram().quantile(less_rare(1.0 - allowed));
        near.map_or(from_ns, |near| near.0.min(from_ns))
    }
}

impl<'a> Values<'a> {
    fn of(metric: StreamMetric, row: &'a StreamRow) -> Values<'a> {
        let count = |time: StreamTime| row.times.get(time).count();
        let without_event = count(StreamTime::FirstEventCensored) + count(StreamTime::FirstEventFailed);
        let without_content = count(StreamTime::FirstContentCensored) + count(StreamTime::FirstContentFailed);
        let (time, missing, unknown) = match metric {
            StreamMetric::FirstEvent => (StreamTime::FirstEvent, without_event, 0),
            StreamMetric::EventGap => (StreamTime::EventGap, count(StreamTime::EventGapCensored) + without_event, 0),
            StreamMetric::LongestGap => {
                (StreamTime::LongestGap, count(StreamTime::LongestGapCensored) + without_event, 0)
            }
            StreamMetric::FirstContent => (StreamTime::FirstContent, without_content, row.books.unknown_first_content),
            StreamMetric::ContentGap => {
                let missing = count(StreamTime::ContentGapCensored) + without_content;
                (StreamTime::ContentGap, missing, row.books.unknown_content_gaps)
            }
            StreamMetric::TimePerOutputToken => {
                let incomplete = row.books.ended.saturating_sub(row.books.complete);
                (StreamTime::TimePerOutputToken, incomplete, row.books.unknown_time_per_output_token)
            }
        };
        Values { known: row.times.get(time), missing, unknown }
    }
}

/// Rows that had ended by `before`.
fn whole_rows(rows: &StreamRows, before: Timestamp) -> Vec<StreamRow> {
    let count = if before == Timestamp::NEVER { rows.count() } else { before.0 / rows.width().0 };
    rows.first(count)
}
