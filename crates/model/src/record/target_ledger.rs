//! The books and the distributions of one target.

use std::collections::BTreeMap;

use super::{Outcome, RequestRecord, Tally, TargetTimes};

/// What became of the measured arrivals of one target.
#[derive(Clone, Default, Debug)]
pub struct TargetLedger {
    /// How they ended.
    pub tally: Tally,
    /// Answers by HTTP status.
    pub statuses: BTreeMap<u16, u64>,
    /// How long they took.
    pub times: TargetTimes,
}

impl TargetLedger {
    /// An arrival was taken from the schedule.
    #[inline]
    pub fn plan(&mut self) {
        self.tally.plan(1);
    }

    /// `n` arrivals were never issued; `record` is that of each.
    pub fn never_issued(&mut self, record: &RequestRecord, n: u64) {
        self.tally.plan_unissued(n);
        self.times.record_n(record, n);
    }

    /// An arrival ended.
    #[inline]
    pub fn record(&mut self, record: &RequestRecord) {
        self.tally.count(record.outcome);
        if let Outcome::Response { status } = record.outcome {
            *self.statuses.entry(status).or_default() += 1;
        }
        self.times.record(record);
    }
}
