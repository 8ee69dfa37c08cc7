//! What became of the arrivals intended in each interval, whenever it did: so that the beginning of a run can be told
//! from the rest after it is over.

use std::collections::BTreeMap;

use super::recorder::STATUSES;
use super::{Cause, Mergeable, Outcome, RequestRecord, Snapshot, SparseHistogram, Tally};
use crate::time::Timestamp;

/// The books of one interval, by intended start. Kept while a run goes on, and in no run folder.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct IntervalBooks {
    /// The measured arrivals intended in it.
    pub tally: Tally,
    /// Their answers by HTTP status.
    pub statuses: BTreeMap<u16, u64>,
    /// Their failures by cause.
    pub causes: BTreeMap<Cause, u64>,
    /// Response time of their answers with an error status.
    pub error_status_time: SparseHistogram,
    /// Bytes of their answers.
    pub bytes_in: u64,
    /// When the last of them ended.
    pub last_end: Timestamp,
}

impl IntervalBooks {
    pub(super) fn count(&mut self, record: &RequestRecord) {
        self.tally.count(record.outcome);
        self.bytes_in += record.bytes_in;
        self.last_end = self.last_end.max(record.end);
        if let Outcome::Response { status } = record.outcome {
            *self.statuses.entry(status.min(STATUSES as u16 - 1)).or_default() += 1;
            if status >= 400 {
                self.error_status_time.record_n(record.response_time(), 1);
            }
        }
        if let Some(cause) = record.outcome.cause() {
            *self.causes.entry(cause).or_default() += 1;
        }
    }

    /// Adds what these books hold to those of a snapshot; its distributions and its rows are left as they are.
    pub fn add_to(&self, snapshot: &mut Snapshot) {
        snapshot.tally.merge(&self.tally);
        self.statuses.iter().for_each(|(status, n)| *snapshot.statuses.entry(*status).or_default() += n);
        self.causes.iter().for_each(|(cause, n)| *snapshot.causes.entry(*cause).or_default() += n);
        snapshot.bytes_in += self.bytes_in;
        snapshot.last_end = snapshot.last_end.max(self.last_end);
    }
}

impl Mergeable for IntervalBooks {
    fn merge(&mut self, other: &IntervalBooks) {
        self.tally.merge(&other.tally);
        other.statuses.iter().for_each(|(status, n)| *self.statuses.entry(*status).or_default() += n);
        other.causes.iter().for_each(|(cause, n)| *self.causes.entry(*cause).or_default() += n);
        self.error_status_time.merge(&other.error_status_time);
        self.bytes_in += other.bytes_in;
        self.last_end = self.last_end.max(other.last_end);
    }
}
