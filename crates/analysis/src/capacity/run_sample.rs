//! Bad requests of a run, by stretch.

use truetail_model::record::{ByInterval, Distributions, IntervalBooks, Metric, RequestRecord, Snapshot};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_run::{Run, StreamRows, StreamTime};

use super::objective::{BadRequest, Objective};
use super::sample::{Sample, Stretch, below_bucket};
use crate::confidence_interval::less_rare;

/// Delay until the result of a request is in the records.
const RECORDED_AFTER: Nanos = Nanos::from_millis(250);

/// Records of a run in progress.
#[derive(Clone, Copy, Debug)]
pub struct SoFar<'a> {
    /// Requests.
    pub snapshot: &'a Snapshot,
    /// Streams by their intended starts; `None` if answers are not read as streams.
    pub streams: Option<&'a StreamRows>,
}

impl Objective {
    /// Sample of a run for this objective: its single requests if all were kept, otherwise its intervals. An objective
    /// about streams needs `streams`, and has an empty sample without them.
    pub fn sample(&self, run: &Run, streams: Option<&StreamRows>) -> Sample {
        match self.bad() {
            BadRequest::OfStreams(limit) => {
                streams.map_or(Sample::default(), |rows| limit.sample(rows, Timestamp::NEVER, self.allowed()))
            }
            _ => self.sample_before(&run.snapshot, Timestamp::NEVER),
        }
    }

    /// Returns the time before which requests of an unfinished run can be judged. Later ones may turn out slow.
    ///
    /// Streams take long, and some of their values are known only at their end. So younger streams are left out: the
    /// ones that began later than the longest complete stream so far takes, up to half of the run.
    pub fn judged_before(&self, so_far: SoFar<'_>, now: Timestamp) -> Timestamp {
        let snapshot = so_far.snapshot;
        let wait = match self.bad() {
            BadRequest::Slow { metric: Metric::ResponseTime, from_ns } => from_ns.saturating_add(RECORDED_AFTER.0),
            BadRequest::OfStreams(_) => {
                let Some(rows) = so_far.streams else { return now };
                let longest = rows.sum().times.get(StreamTime::LastEvent).max().unwrap_or_default();
                let wait = longest.0.min(now.0 / 2).saturating_add(RECORDED_AFTER.0);
                let width = rows.width().0;
                return Timestamp(now.0.saturating_sub(wait) / width * width);
            }
            BadRequest::Slow { .. } | BadRequest::Failed | BadRequest::Unanswered => RECORDED_AFTER.0,
        };
        let before = Timestamp(now.0.saturating_sub(wait));
        if snapshot.samples.is_complete() {
            return before;
        }
        let width_s = snapshot.intervals.width_s().max(snapshot.books.width_s());
        Timestamp(before.second() as u64 / width_s * width_s * NANOS_PER_SECOND)
    }

    /// Sample of an unfinished run: the requests intended before `before`, which are `due` in number. For response
    /// times, a request that has not ended by then is bad; see [`Objective::judged_before`].
    pub fn sample_so_far(&self, so_far: SoFar<'_>, before: Timestamp, due: u64) -> Sample {
        if let BadRequest::OfStreams(limit) = self.bad() {
            let of = |rows| limit.sample_so_far(rows, before, due, self.allowed());
            return so_far.streams.map_or(Sample::default(), of);
        }
        let snapshot = so_far.snapshot;
        let outstanding = due.saturating_sub(ended_before(snapshot, before));
        let overdue = match self.bad() {
            BadRequest::Slow { metric: Metric::ResponseTime, .. } => outstanding,
            _ => 0,
        };
        Sample { outstanding, overdue, ..self.sample_before(snapshot, before) }
    }

    fn sample_before(&self, snapshot: &Snapshot, before: Timestamp) -> Sample {
        if snapshot.samples.is_complete() {
            let mut records: Vec<RequestRecord> =
                snapshot.samples.even().iter().filter(|record| record.intended_start < before).copied().collect();
            records.sort_unstable_by_key(|record| (record.intended_start, record.index));
            self.sample_records(&records)
        } else {
            self.sample_intervals(snapshot, before)
        }
    }

    /// Sample of times of the simulator, in nanoseconds and in the order of the intended starts.
    pub fn sample_of_times(&self, times: &[u64]) -> Sample {
        Sample::from_times(times, times, self.bad_from(), self.allowed())
    }

    fn sample_records(&self, records: &[RequestRecord]) -> Sample {
        let times =
            |without| records.iter().filter_map(|record| self.judged_time(record, without)).collect::<Vec<u64>>();
        Sample::from_times(&times(false), &times(true), self.bad_from(), self.allowed())
    }

    fn sample_intervals(&self, snapshot: &Snapshot, before: Timestamp) -> Sample {
        let rows: Vec<Stretch> = match self.bad() {
            BadRequest::Slow { metric, from_ns } => {
                let near = snapshot.metric(metric).quantile(less_rare(1.0 - self.allowed()));
                let near_from = near.map_or(from_ns, |near| near.0.min(from_ns));
                let rows = whole_rows(&snapshot.intervals, before);
                rows.iter().map(|row| slow(row, metric, from_ns, near_from)).collect()
            }
            BadRequest::OfStreams(_) => Vec::new(),
            BadRequest::Failed | BadRequest::Unanswered => {
                let error_statuses = self.bad() == BadRequest::Failed;
                whole_rows(&snapshot.books, before).iter().map(|row| failed(row, error_statuses)).collect()
            }
        };
        Sample::from_rows(&rows)
    }
}

/// Intervals that had ended by `before`.
fn whole_rows<T>(intervals: &ByInterval<T>, before: Timestamp) -> &[T] {
    let whole = before.second() / intervals.width_s() as usize;
    &intervals.rows()[..whole.min(intervals.rows().len())]
}

/// Number of ended requests with an intended start before `before`.
fn ended_before(snapshot: &Snapshot, before: Timestamp) -> u64 {
    if snapshot.samples.is_complete() {
        return snapshot.samples.even().iter().filter(|record| record.intended_start < before).count() as u64;
    }
    whole_rows(&snapshot.books, before).iter().map(|row| row.tally.issued + row.tally.never_issued).sum()
}

/// Counts the requests of an interval. The bucket that holds the limit counts as bad, but not as surely bad.
fn slow(row: &Distributions, metric: Metric, from_ns: u64, near_from: u64) -> Stretch {
    let counted = row.metric(metric);
    let unanswered = row.metric(Metric::Censored).count() + row.metric(Metric::Failed).count();
    let beyond = |metric: Metric, from: u64| {
        let buckets = row.metric(metric).buckets();
        buckets.filter(|(lowest, _)| lowest.0 >= from).map(|(_, n)| n).sum::<u64>() + unanswered
    };
    let without = row.metric(Metric::WithoutGenerator);
    let bracketed = metric == Metric::ResponseTime && without.count() == counted.count();
    Stretch {
        requests: counted.count() + unanswered,
        bad: beyond(metric, below_bucket(from_ns)),
        surely_bad: beyond(if bracketed { Metric::WithoutGenerator } else { metric }, from_ns),
        near: beyond(metric, below_bucket(near_from)),
    }
}

fn failed(row: &IntervalBooks, error_statuses: bool) -> Stretch {
    let errors: u64 = row.statuses.iter().filter(|(status, _)| *status >= 400).map(|(_, n)| n).sum();
    // Requests that have not ended are only in `planned`, so these two counters leave them out.
    let requests = row.tally.issued + row.tally.never_issued;
    let bad = row.tally.unanswered() + if error_statuses { errors } else { 0 };
    Stretch { requests, bad, surely_bad: bad, near: bad }
}
