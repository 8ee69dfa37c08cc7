//! The record of the truth: every admitted request gets exactly one row, however it ends.

use truetail_model::service::{Action, FaultSet, ResponsePlan};
use truetail_model::time::Timestamp;

use crate::stream::StreamTruth;
use crate::truth::{Ending, ServerTruth, Totals, TruthRow};
use crate::truth_log::TruthLog;

/// The row of an admitted request that has not ended. It is passed to [`TruthRecorder::close`] exactly once.
#[derive(Debug)]
#[must_use]
pub(crate) struct OpenRow {
    row: TruthRow,
    /// Start of its fault clock, on the clock of the event loop.
    origin: Timestamp,
    /// Index in the kept rows.
    index: usize,
}

impl OpenRow {
    pub(crate) fn origin(&self) -> Timestamp {
        self.origin
    }

    /// Returns its epoch, and its number in the epoch.
    pub(crate) fn id(&self) -> (u32, u64) {
        (self.row.epoch, self.row.number)
    }

    /// Notes that the answer is a stream. Its last byte was planned for `due`, and `faults` affected its events.
    pub(crate) fn set_stream(&mut self, due: Option<Timestamp>, faults: FaultSet) {
        self.row.due_ns = due.map(|due| due.since(self.origin).0);
        self.row.faults = self.row.faults.union(faults);
    }
}

/// Rows in memory, counts, and the truth logs.
#[derive(Debug)]
pub(crate) struct TruthRecorder {
    rows: Option<Vec<TruthRow>>,
    streams: Vec<StreamTruth>,
    logs: TruthLogs,
    pub(crate) totals: Totals,
}

#[derive(Default, Debug)]
pub(crate) struct TruthLogs {
    pub(crate) requests: Option<TruthLog<TruthRow>>,
    pub(crate) events: Option<TruthLog<StreamTruth>>,
}

impl TruthRecorder {
    /// Creates a recorder that keeps rows in memory if `keep_rows` is true, and writes them to the `logs`, if any.
    pub(crate) fn new(keep_rows: bool, logs: TruthLogs) -> TruthRecorder {
        TruthRecorder { rows: keep_rows.then(Vec::new), streams: Vec::new(), logs, totals: Totals::default() }
    }

    /// Opens the row of a request that was admitted in `epoch`, whose fault clock started at `origin`.
    pub(crate) fn open(&mut self, plan: &ResponsePlan, epoch: u32, origin: Timestamp) -> OpenRow {
        let due_ns = Some(plan.completed()).filter(|due| *due != Timestamp::NEVER).map(|due| due.0);
        let row = TruthRow {
            epoch,
            number: plan.number,
            arrived_ns: plan.arrived.0,
            due_ns,
            answered_ns: None,
            status: None,
            ending: Ending::Held,
            faults: plan.faults,
        };
        self.totals.admitted += 1;
        let index = self.rows.as_mut().map_or(0, |rows| {
            rows.push(row);
            rows.len() - 1
        });
        OpenRow { row, origin, index }
    }

    /// Returns true if the truth about streams is kept or logged.
    pub(crate) fn wants_streams(&self) -> bool {
        self.rows.is_some() || self.logs.events.is_some()
    }

    /// Keeps and logs the truth about an ended stream, as requested.
    pub(crate) fn add_stream(&mut self, stream: StreamTruth, now: Timestamp) {
        if self.rows.is_some() {
            self.streams.push(stream.clone());
        }
        if let Some(log) = &mut self.logs.events {
            log.add(stream, now);
        }
    }

    /// Closes the row of a request that ended at `now`, with the `status` that it sent, if any.
    pub(crate) fn close(&mut self, row: OpenRow, ending: Ending, status: Option<u16>, now: Timestamp) {
        let OpenRow { mut row, origin, index } = row;
        row.ending = ending;
        if ending.sent_something() {
            row.answered_ns = Some(now.since(origin).0);
            row.status = status;
        }
        self.totals.endings[ending as usize] += 1;
        if let Some(rows) = &mut self.rows {
            rows[index] = row;
        }
        if let Some(log) = &mut self.logs.requests {
            log.add(row, now);
        }
    }

    /// Returns the time of the next call of [`TruthRecorder::flush_due`], if any.
    pub(crate) fn flush_at(&self) -> Option<Timestamp> {
        let of_requests = self.logs.requests.as_ref().and_then(TruthLog::flush_at);
        let of_events = self.logs.events.as_ref().and_then(TruthLog::flush_at);
        of_requests.into_iter().chain(of_events).min()
    }

    /// Sends rows to the writers of the logs if they have waited long enough.
    pub(crate) fn flush_due(&mut self, now: Timestamp) {
        self.logs.requests.iter_mut().for_each(|log| log.flush_due(now));
        self.logs.events.iter_mut().for_each(|log| log.flush_due(now));
    }

    /// Completes the logs and returns the truth. Every row must have been closed.
    pub(crate) fn finish(self, clock_starts_unix_ns: Vec<u64>) -> ServerTruth {
        debug_assert!(self.totals.is_balanced(), "a request without an ending: {:?}", self.totals);
        let of_requests = self.logs.requests.and_then(|log| log.finish().err());
        let of_events = self.logs.events.and_then(|log| log.finish().err());
        let log_error = of_requests.or(of_events);
        let rows = self.rows.unwrap_or_default();
        let streams = self.streams;
        ServerTruth { rows, streams, totals: self.totals, clock_starts_unix_ns, log_error }
    }
}

/// Returns the ending of a request after its `action` is complete.
pub(crate) fn ending_after(action: Action) -> Ending {
    match action {
        Action::Answer { .. } | Action::SlowBody { .. } => Ending::Answered,
        Action::ShortBody => Ending::ShortBody,
        Action::Garbage => Ending::Garbage,
        Action::Reset => Ending::Reset,
        Action::BlackHole => Ending::BlackHole,
    }
}
