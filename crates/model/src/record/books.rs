//! Books of each interval, by intended start, so that a warm-up can be cut off after the run.

use std::collections::BTreeMap;

use super::{Cause, CompactHistogram, MAX_STATUS, Mergeable, RequestRecord, StatusCounts, Tally};
use crate::time::Timestamp;

/// Books of one interval, by intended start. They are kept in memory during a run, and are in no run folder.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct IntervalBooks {
    /// Books of the measured arrivals intended in this interval.
    pub tally: Tally,
    /// Answers by HTTP status. Answers without a status are in the tally only.
    pub statuses: StatusCounts,
    /// Failures by cause.
    pub causes: BTreeMap<Cause, u64>,
    /// Response time of answers with an error status.
    pub error_status_time: CompactHistogram,
    /// Bytes of answers.
    pub bytes_in: u64,
    /// Latest end of these arrivals.
    pub last_end: Timestamp,
}

impl IntervalBooks {
    /// Counts the outcome of an arrival.
    #[inline]
    pub(super) fn count(&mut self, record: &RequestRecord) {
        self.tally.count(record.outcome);
        self.bytes_in += record.bytes_in;
        self.last_end = self.last_end.max(record.end);
        if let Some(status) = record.outcome.status() {
            self.statuses.add(status.min(MAX_STATUS), 1);
            if record.outcome.has_error_status() {
                self.error_status_time.record_n(record.response_time(), 1);
            }
        }
        if let Some(cause) = record.outcome.cause() {
            *self.causes.entry(cause).or_default() += 1;
        }
    }
}

impl Mergeable for IntervalBooks {
    fn merge(&mut self, other: &IntervalBooks) {
        self.tally.merge(&other.tally);
        self.statuses.merge(&other.statuses);
        other.causes.iter().for_each(|(cause, n)| *self.causes.entry(*cause).or_default() += n);
        self.error_status_time.merge(&other.error_status_time);
        self.bytes_in += other.bytes_in;
        self.last_end = self.last_end.max(other.last_end);
    }
}
