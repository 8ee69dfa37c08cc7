//! A run without its warm-up.

use std::collections::HashSet;

use truetail_model::record::{
    Histogram, IntervalBooks, Metric, Outcome, Recorder, RecorderOptions, RequestRecord, Samples, SecondCounts,
    Snapshot,
};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_model::trace::TraceIds;
use truetail_run::{KeptHeaders, ReportedTimes, Run, ServerTiming, TraceFacts};

use crate::metric_distributions;

/// Reason why a warm-up cannot be cut off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarmupCutError {
    /// Not every request is known, and the books of single intervals are not known either. Run folders do not hold
    /// these books.
    NothingByInterval,
    /// Not every request was kept, so only whole intervals can be separated.
    WithinAnInterval {
        /// Length of these intervals in this run, in seconds.
        width_s: u64,
    },
}

impl std::fmt::Display for WarmupCutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WarmupCutError::NothingByInterval => f.write_str(
                "the warm-up of this run cannot be cut: not every request was kept, nor the books of each interval",
            ),
            WarmupCutError::WithinAnInterval { width_s: 1 } => {
                f.write_str("not every request was kept, so a warm-up can only be cut at a whole second")
            }
            WarmupCutError::WithinAnInterval { width_s } => write!(
                f,
                "not every request was kept, and a run of this length is kept in intervals of {width_s} s, so a warm-up \
                 can only be cut at a multiple of {width_s} s"
            ),
        }
    }
}

impl std::error::Error for WarmupCutError {}

/// Returns the run with a warm-up until `from`: arrivals intended before it count only in the books of the warm-up. A
/// note says that the warm-up was cut afterwards. Returns the run unchanged if `from` is not after its warm-up.
///
/// If every request was kept, the result is exact. Otherwise it is built from the intervals. Counts and distributions
/// are of the arrivals intended from `from` on (mean, smallest and largest value to 0.1 %). But the timeline still
/// counts sends and ends of warm-up arrivals after `from`. Books by target, streams and sessions are left out.
///
/// # Errors
/// [`WarmupCutError`] if the run does not hold enough data.
pub fn without_warmup(run: &Run, from: Timestamp) -> Result<Run, WarmupCutError> {
    if from <= run.snapshot.measure_from {
        return Ok(run.clone());
    }
    let snapshot = match metric_distributions::every_arrival(&run.snapshot) {
        Some(records) => from_records(&run.snapshot, &records, from),
        None => from_intervals(&run.snapshot, from)?,
    };
    let mut facts = run.facts.clone();
    facts.offered.warmup_ns = from.0;
    let cut = snapshot.warmup.planned - run.snapshot.warmup.planned;
    facts.notes.push(format!(
        "the first {} s were cut off afterwards as warm-up: {cut} arrivals, counted apart",
        (from.as_secs_f64() * 1e3).round() / 1e3
    ));
    if let Some(timing) = &mut facts.server_timing {
        recount(timing, facts.trace.as_ref().and_then(TraceFacts::ids), &snapshot.samples);
    }
    if let Some(kept) = &mut facts.kept_headers {
        recount_headers(kept, &snapshot.samples);
    }
    // By target, of streams and of sessions, only totals of the whole run are known.
    facts.by_target.clear();
    facts.stream = None;
    facts.sessions = None;
    Ok(Run { facts, snapshot })
}

/// Counts the answers with and without reported times again, and moves the spans of other requests to those that are
/// not kept. Unread times, which are known by run only, stay.
fn recount(timing: &mut ServerTiming, ids: Option<TraceIds>, samples: &Samples) {
    let of_spans = timing.spans.is_some();
    let kept: HashSet<u64> =
        samples.even().iter().chain(samples.slowest_left_out()).map(|record| record.index).collect();
    let cut = timing.times.iter().filter(|times| !kept.contains(&times.index()));
    let spans_cut: u64 = cut.map(ReportedTimes::spans).sum();
    timing.times.retain(|times| kept.contains(&times.index()));
    if let Some(books) = &mut timing.spans {
        books.used -= spans_cut;
        books.not_kept += spans_cut;
    }
    // Every answer has its header read. The even part of a long run's requests therefore represents all answers.
    let slowest = samples.slowest_left_out().filter(|_| of_spans);
    let is_answer = |record: &&RequestRecord| matches!(record.outcome, Outcome::Response { .. });
    let is_asked = |index: &u64| !of_spans || ids.is_none_or(|ids| ids.is_sampled(*index));
    let answers = samples.even().iter().chain(slowest).filter(is_answer).map(|record| record.index);
    let answers: HashSet<u64> = answers.filter(is_asked).collect();
    timing.answers = answers.iter().filter(|index| timing.of(**index).is_some()).count() as u64;
    timing.without = answers.len() as u64 - timing.answers;
}

/// Counts the answers with each value again, among the even part of the requests that are kept.
fn recount_headers(kept: &mut KeptHeaders, samples: &Samples) {
    let even: HashSet<u64> = samples.even().iter().map(|record| record.index).collect();
    let slowest: HashSet<u64> = samples.slowest_left_out().map(|record| record.index).collect();
    kept.rows.retain(|row| even.contains(&row.index()) || slowest.contains(&row.index()));
    for (nth, header) in kept.headers.iter_mut().enumerate() {
        header.further = 0;
        header.without = 0;
        header.values.iter_mut().for_each(|value| value.answers = 0);
        let of_even = kept.rows.iter().filter(|row| even.contains(&row.index()));
        of_even.for_each(|row| header.count(row.get(nth), 1));
    }
}

fn from_records(whole: &Snapshot, records: &[RequestRecord], from: Timestamp) -> Snapshot {
    let mut recorder = Recorder::new(RecorderOptions {
        measure_from: from,
        expected_seconds: whole.seconds.len(),
        samples: whole.samples.options(),
        ..RecorderOptions::default()
    });
    for record in records {
        recorder.plan(record.intended_start);
        recorder.record(record);
    }
    let mut rest = recorder.finish(whole.schedule_hash);
    rest.warmup.merge(&whole.warmup);
    rest.cancelled = whole.cancelled;
    rest
}

fn from_intervals(whole: &Snapshot, from: Timestamp) -> Result<Snapshot, WarmupCutError> {
    let intervals = &whole.intervals;
    let books = whole.books.rows();
    let planned = |rows: &[IntervalBooks]| rows.iter().map(|row| row.tally.planned).sum::<u64>();
    let in_rows = |metric| intervals.rows().iter().map(|row| row.metric(metric).count()).sum::<u64>();
    let known = |metric| in_rows(metric) == whole.metric(metric).count();
    if planned(books) != whole.tally.planned || !Metric::ALL.into_iter().all(known) {
        return Err(WarmupCutError::NothingByInterval);
    }
    let width_s = intervals.width_s().max(whole.books.width_s());
    if !from.0.is_multiple_of(width_s * NANOS_PER_SECOND) {
        return Err(WarmupCutError::WithinAnInterval { width_s });
    }
    let first = intervals.interval_of(from.second());
    let first_book = whole.books.interval_of(from.second());
    let (head, rest) = books.split_at(first_book.min(books.len()));
    let errors_before = sum(head.iter().flat_map(|row| row.error_status_time.buckets()));
    let mut snapshot = Snapshot {
        metrics: std::array::from_fn(|i| whole.metrics[i].without(&before(whole, first, Metric::ALL[i]))),
        error_status_time: whole.error_status_time.without(&errors_before),
        seconds: seconds_from(&whole.seconds, from.second()),
        intervals: intervals.from_interval(first),
        books: whole.books.from_interval(first_book),
        samples: samples_from(&whole.samples, from, planned(rest)),
        measure_from: from,
        last_end: rest.iter().map(|row| row.last_end).max().unwrap_or_default(),
        schedule_hash: whole.schedule_hash,
        warmup: whole.warmup,
        cancelled: whole.cancelled,
        ..Snapshot::default()
    };
    head.iter().for_each(|row| snapshot.warmup.merge(&row.tally));
    for row in rest {
        snapshot.add_books(row);
    }
    Ok(snapshot)
}

fn before(whole: &Snapshot, first: usize, metric: Metric) -> Histogram {
    sum(whole.intervals.rows().iter().take(first).flat_map(|row| row.metric(metric).buckets()))
}

fn sum(buckets: impl Iterator<Item = (Nanos, u64)>) -> Histogram {
    let mut sum = Histogram::new();
    buckets.for_each(|(value, count)| sum.record_n(value, count));
    sum
}

fn seconds_from(rows: &[SecondCounts], first: usize) -> Vec<SecondCounts> {
    let keep = |(i, row): (usize, &SecondCounts)| if i < first { SecondCounts::default() } else { *row };
    rows.iter().enumerate().map(keep).collect()
}

/// Returns the samples of the `planned` arrivals intended from `from` on.
fn samples_from(samples: &Samples, from: Timestamp, planned: u64) -> Samples {
    let later = |record: &&RequestRecord| record.intended_start >= from;
    let even = samples.even().iter().filter(later).copied().collect();
    let only_slow: Vec<RequestRecord> = samples.slowest_left_out().filter(later).copied().collect();
    Samples::from_parts(samples.options(), even, samples.one_in(), &only_slow, planned)
}
