//! Books and distributions of one target.

use super::{RequestRecord, StatusCounts, Tally, TargetTimes};

/// Outcomes and times of the measured arrivals of one target.
#[derive(Clone, Default, Debug)]
pub struct TargetLedger {
    /// Numbers of arrivals by outcome.
    pub tally: Tally,
    /// Answers by HTTP status. Answers without a status are in the tally only.
    pub statuses: StatusCounts,
    /// Distributions of their times.
    pub times: TargetTimes,
}

impl TargetLedger {
    /// Counts an arrival that was taken from the schedule.
    #[inline]
    pub fn plan(&mut self) {
        self.tally.plan(1);
    }

    /// Counts `n` never-issued arrivals, each with the times of `record`.
    pub fn record_never_issued(&mut self, record: &RequestRecord, n: u64) {
        self.tally.plan_unissued(n);
        self.times.record_n(record, n);
    }

    /// Counts an arrival that ended.
    #[inline]
    pub fn record(&mut self, record: &RequestRecord) {
        self.tally.count(record.outcome);
        if let Some(status) = record.outcome.status() {
            self.statuses.add(status, 1);
        }
        self.times.record(record);
    }
}
