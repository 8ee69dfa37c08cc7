//! All records of a run, or of a part of it. Snapshots merge without loss.

use std::collections::BTreeMap;

use super::{
    ByInterval, Cause, Distributions, Histogram, IntervalBooks, Metric, Samples, SecondCounts, Tally, TargetTimes,
    seconds,
};
use crate::arrival::ScheduleHash;
use crate::time::Timestamp;

/// Records of a run. The snapshots of workers or machines that shared a schedule merge into the snapshot of the whole.
#[derive(Clone, Default, Debug)]
pub struct Snapshot {
    /// Books of all measured arrivals.
    pub tally: Tally,
    /// Books of the warm-up, which is in nothing else here.
    pub warmup: Tally,
    /// Books of the arrivals that a [`Cancellation`](crate::cancellation::Cancellation) chose, which are in nothing
    /// else here. [`Tally::timed_out`] counts the requests that were cancelled.
    pub cancelled: Tally,
    /// Answers by HTTP status. Answers without a status are in the tally only.
    pub statuses: BTreeMap<u16, u64>,
    /// Failures by cause.
    pub causes: BTreeMap<Cause, u64>,
    /// Distributions, by [`Metric`] number.
    pub metrics: [Histogram; Metric::COUNT],
    /// Response time of answers with an error status: a part of [`Metric::ResponseTime`].
    pub error_status_time: Histogram,
    /// Counts of each second, from the origin. The last one has everything after twelve days (2^20 s).
    pub seconds: Vec<SecondCounts>,
    /// Distributions of each interval (a second, or some seconds in a long run) by intended start; empty if not kept.
    pub intervals: ByInterval<Distributions>,
    /// Books of each interval, by intended start; empty if not kept, and when read from a run folder.
    pub books: ByInterval<IntervalBooks>,
    /// Single requests.
    pub samples: Samples,
    /// Distributions of each target, in the order of the targets; empty if there is only one, or if not kept.
    pub targets: Vec<TargetTimes>,
    /// Bytes of answers that were read.
    pub bytes_in: u64,
    /// End of the warm-up, by intended start.
    pub measure_from: Timestamp,
    /// Latest end of a measured arrival.
    pub last_end: Timestamp,
    /// Hash of all arrivals of the schedule, warm-up included.
    pub schedule_hash: ScheduleHash,
}

impl Snapshot {
    /// Returns the distribution of one metric.
    pub fn metric(&self, metric: Metric) -> &Histogram {
        &self.metrics[metric as usize]
    }

    /// Returns the books of all arrivals, measured or not.
    pub fn all_arrivals(&self) -> Tally {
        let mut all = self.tally;
        all.merge(&self.warmup);
        all.merge(&self.cancelled);
        all
    }

    /// Returns the number of answers without a status.
    pub fn answers_without_status(&self) -> u64 {
        self.tally.responses.saturating_sub(self.statuses.values().sum())
    }

    /// Adds the books of one interval. Distributions and rows stay as they are.
    pub fn add_books(&mut self, books: &IntervalBooks) {
        self.tally.merge(&books.tally);
        books.statuses.iter().for_each(|(status, n)| *self.statuses.entry(status).or_default() += n);
        books.causes.iter().for_each(|(cause, n)| *self.causes.entry(*cause).or_default() += n);
        self.bytes_in += books.bytes_in;
        self.last_end = self.last_end.max(books.last_end);
    }

    /// Adds the records of another worker. Counts are added; quantiles are never averaged.
    pub fn merge(&mut self, other: &Snapshot) {
        self.tally.merge(&other.tally);
        self.warmup.merge(&other.warmup);
        self.cancelled.merge(&other.cancelled);
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        for (cause, count) in &other.causes {
            *self.causes.entry(*cause).or_default() += count;
        }
        for (mine, theirs) in self.metrics.iter_mut().zip(&other.metrics) {
            mine.merge(theirs);
        }
        self.error_status_time.merge(&other.error_status_time);
        seconds::merge(&mut self.seconds, &other.seconds);
        self.intervals.merge(&other.intervals);
        self.books.merge(&other.books);
        self.samples.merge(&other.samples);
        self.merge_targets(&other.targets);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.measure_from = self.measure_from.max(other.measure_from);
        self.last_end = self.last_end.max(other.last_end);
        self.schedule_hash.merge(other.schedule_hash);
    }

    /// A snapshot without targets adds nothing to any target.
    fn merge_targets(&mut self, others: &[TargetTimes]) {
        if self.targets.len() < others.len() {
            self.targets.resize_with(others.len(), TargetTimes::default);
        }
        self.targets.iter_mut().zip(others).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}
