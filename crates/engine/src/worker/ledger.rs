//! What a worker writes down, a moment after it happened: what is due goes out first, and the books of many requests in a
//! row are written faster than each between two calls of the system.

use std::sync::Arc;

use truetail_model::arrival::{Arrival, ArrivalBlock};
use truetail_model::record::{Recorder, RecorderOptions, RequestRecord};
use truetail_model::time::Timestamp;
use truetail_model::workload::Workload;

use super::target_tallies::TargetTallies;
use crate::checkpoint::Mailbox;
use crate::live::Live;
use crate::target::request_set::{RequestId, RequestSet};

/// So many ends are written down at once at most: a few microseconds.
const MAX_ENTRIES_PER_TURN: usize = 64;

/// The buckets that a batch of records falls into are read before they are written: a processor fetches many places at once
/// where nothing depends on what is there. Gained 2.5 % of the CPU of a request at 50 000/s in batches.
const READS_AHEAD: bool = true;

/// The books of one worker, and what is still to be written into them.
#[derive(Debug)]
pub(crate) struct Ledger {
    recorder: Box<Recorder>,
    target_tallies: TargetTallies,
    live: Arc<Live>,
    mailbox: Arc<Mailbox>,
    planned: Vec<(RequestId, Timestamp)>,
    /// Places for records, of which the first `ended_count` are in use. A record is made in its place: to move one costs
    /// more than to fill it in.
    ended: Box<[(RequestId, RequestRecord)]>,
    ended_count: usize,
}

impl Ledger {
    pub(crate) fn new(
        options: RecorderOptions,
        requests: &RequestSet,
        workload: &Workload,
        live: Arc<Live>,
        mailbox: Arc<Mailbox>,
    ) -> Ledger {
        let arrival = Arrival { index: 0, intended_start: Timestamp::ZERO };
        let place = (requests.choose(0), RequestRecord::never_issued(arrival, Timestamp::ZERO));
        Ledger {
            recorder: Box::new(Recorder::new(options)),
            target_tallies: TargetTallies::new(requests, workload),
            live,
            mailbox,
            planned: Vec::with_capacity(MAX_ENTRIES_PER_TURN),
            ended: vec![place; MAX_ENTRIES_PER_TURN].into_boxed_slice(),
            ended_count: 0,
        }
    }

    /// An arrival was taken from the schedule. [`Ledger::record`] must follow for each.
    #[inline]
    pub(crate) fn plan(&mut self, request: RequestId, intended_start: Timestamp) {
        self.planned.push((request, intended_start));
        if self.planned.len() == MAX_ENTRIES_PER_TURN {
            self.write();
        }
    }

    /// A place for what became of an arrival, to be overwritten whole.
    #[inline(always)]
    pub(crate) fn record(&mut self, request: RequestId) -> &mut RequestRecord {
        if self.ended_count == MAX_ENTRIES_PER_TURN {
            self.write();
        }
        let place = &mut self.ended[self.ended_count];
        self.ended_count += 1;
        place.0 = request;
        &mut place.1
    }

    /// Writes down what has not been. To be called before each sleep.
    pub(crate) fn write(&mut self) {
        for (request, intended_start) in self.planned.drain(..) {
            self.recorder.plan(intended_start);
            self.target_tallies.plan(request, intended_start);
            self.live.started();
        }
        let ended = &self.ended[..std::mem::take(&mut self.ended_count)];
        if READS_AHEAD {
            self.recorder.look_ahead(ended.iter().map(|(_, record)| record));
        }
        for (request, record) in ended {
            self.recorder.record(record);
            self.target_tallies.record(*request, record);
            self.live.ended(record);
        }
    }

    /// An arrival for which there was no time, at the end of the run.
    pub(crate) fn never_issued(&mut self, request: RequestId, record: &RequestRecord) {
        self.recorder.plan(record.intended_start);
        self.target_tallies.plan(request, record.intended_start);
        self.recorder.record(record);
        self.target_tallies.record(request, record);
    }

    /// The instant from which on intended starts are measured: before it is the warm-up.
    pub(crate) fn measured_from(&self) -> Timestamp {
        self.recorder.measured_from()
    }

    /// Arrivals of `requests` for which there was no time by `ended`, at the end of the run.
    pub(crate) fn never_issued_block(&mut self, requests: &RequestSet, block: &ArrivalBlock, ended: Timestamp) {
        self.recorder.never_issued(block, ended);
        self.target_tallies.never_issued_block(requests, block, ended);
    }

    /// Gives the recorder away if somebody asked for it.
    #[inline]
    pub(crate) fn publish_if_asked(&mut self) {
        if self.mailbox.is_asked() {
            self.write();
            self.mailbox.give(&mut self.recorder);
        }
    }

    /// At the end of the run: nothing can be asked for any more.
    pub(crate) fn close(mut self) -> (Recorder, TargetTallies) {
        self.write();
        self.mailbox.close();
        (*self.recorder, self.target_tallies)
    }

    /// All that was recorded so far.
    #[cfg(test)]
    pub(crate) fn so_far(&mut self) -> truetail_model::record::Snapshot {
        self.write();
        self.recorder.clone().finish(truetail_model::arrival::ScheduleHash::default())
    }
}
