//! What a worker writes down, a moment after it happened: what is due goes out first, and the books of many requests in a
//! row are written faster than each between two calls of the system.

use std::sync::Arc;

use truetail_model::record::{Recorder, RecorderOptions, RequestRecord};
use truetail_model::time::Timestamp;
use truetail_model::workload::Workload;

use crate::by_target::ByTarget;
use crate::checkpoint::Mailbox;
use crate::live::Live;
use crate::requests::{Requests, Which};

/// So many ends are written down at once at most: a few microseconds.
const MOST_AT_ONCE: usize = 64;

/// The books of one worker, and what is still to be written into them.
#[derive(Debug)]
pub(crate) struct Ledger {
    recorder: Box<Recorder>,
    by_target: ByTarget,
    live: Arc<Live>,
    mailbox: Arc<Mailbox>,
    planned: Vec<(Which, Timestamp)>,
    ended: Vec<(Which, RequestRecord)>,
}

impl Ledger {
    pub(crate) fn new(
        options: RecorderOptions,
        requests: &Requests,
        workload: &Workload,
        live: Arc<Live>,
        mailbox: Arc<Mailbox>,
    ) -> Ledger {
        Ledger {
            recorder: Box::new(Recorder::new(options)),
            by_target: ByTarget::new(requests, workload),
            live,
            mailbox,
            planned: Vec::with_capacity(MOST_AT_ONCE),
            ended: Vec::with_capacity(MOST_AT_ONCE),
        }
    }

    /// An arrival was taken from the schedule. [`Ledger::record`] must follow for each.
    #[inline]
    pub(crate) fn plan(&mut self, which: Which, intended_start: Timestamp) {
        self.planned.push((which, intended_start));
        if self.planned.len() == MOST_AT_ONCE {
            self.write();
        }
    }

    /// What became of an arrival.
    #[inline]
    pub(crate) fn record(&mut self, which: Which, record: RequestRecord) {
        self.ended.push((which, record));
        if self.ended.len() == MOST_AT_ONCE {
            self.write();
        }
    }

    /// Writes down what has not been. To be called before each sleep.
    pub(crate) fn write(&mut self) {
        for (which, intended_start) in self.planned.drain(..) {
            self.recorder.plan(intended_start);
            self.by_target.plan(which, intended_start);
            self.live.started();
        }
        for (which, record) in self.ended.drain(..) {
            self.recorder.record(&record);
            self.by_target.record(which, &record);
            self.live.ended(&record);
        }
    }

    /// An arrival for which there was no time, at the end of the run.
    pub(crate) fn never_issued(&mut self, which: Which, record: &RequestRecord) {
        self.recorder.plan(record.intended_start);
        self.by_target.plan(which, record.intended_start);
        self.recorder.record(record);
        self.by_target.record(which, record);
    }

    /// Gives the recorder away if somebody asked for it.
    #[inline]
    pub(crate) fn exchange(&mut self) {
        if self.mailbox.is_asked() {
            self.write();
            self.mailbox.give(&mut self.recorder);
        }
    }

    /// At the end of the run: nothing can be asked for any more.
    pub(crate) fn close(mut self) -> (Recorder, ByTarget) {
        self.write();
        self.mailbox.close();
        (*self.recorder, self.by_target)
    }

    /// All that was recorded so far.
    #[cfg(test)]
    pub(crate) fn so_far(&mut self) -> truetail_model::record::Snapshot {
        self.write();
        self.recorder.clone().finish(truetail_model::arrival::ScheduleHash::default())
    }
}
