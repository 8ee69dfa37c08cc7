//! Records the truth: every admitted request gets exactly one row, whatever becomes of it.

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
    /// The start of its fault clock on the clock of the event loop.
    origin: Timestamp,
    /// Its index in the rows that are kept.
    index: usize,
}

impl OpenRow {
    /// The start of its fault clock on the clock of the event loop.
    pub(crate) fn origin(&self) -> Timestamp {
        self.origin
    }

    /// Its epoch, and its number in it.
    pub(crate) fn name(&self) -> (u32, u64) {
        (self.row.epoch, self.row.number)
    }

    /// Its answer is a stream whose last byte was to leave at `due`, which is known by now, and whose events met `faults`.
    pub(crate) fn streamed(&mut self, due: Option<Timestamp>, faults: FaultSet) {
        self.row.due_ns = due.map(|due| due.since(self.origin).0);
        self.row.faults = self.row.faults.and(faults);
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

/// The logs that were asked for.
#[derive(Default, Debug)]
pub(crate) struct TruthLogs {
    /// Of requests.
    pub(crate) requests: Option<TruthLog<TruthRow>>,
    /// Of events of streams.
    pub(crate) events: Option<TruthLog<StreamTruth>>,
}

impl TruthRecorder {
    /// A recorder that keeps rows in memory where `keep_rows`, and writes them to `logs` where there are any.
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

    /// Somebody wants to know of the events of streams.
    pub(crate) fn wants_streams(&self) -> bool {
        self.rows.is_some() || self.logs.events.is_some()
    }

    /// Keeps what is known of a stream that ended, where rows are kept, and writes it, where it is asked for.
    pub(crate) fn add_stream(&mut self, stream: StreamTruth, now: Timestamp) {
        if self.rows.is_some() {
            self.streams.push(stream.clone());
        }
        if let Some(log) = &mut self.logs.events {
            log.add(stream, now);
        }
    }

    /// Closes a row: its request ended at `now`, having sent `status` where it sent something.
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

    /// When [`TruthRecorder::flush_due`] has something to do, if it ever has.
    pub(crate) fn flush_at(&self) -> Option<Timestamp> {
        let of_requests = self.logs.requests.as_ref().and_then(TruthLog::flush_at);
        let of_events = self.logs.events.as_ref().and_then(TruthLog::flush_at);
        of_requests.into_iter().chain(of_events).min()
    }

    /// Sends rows to the writer of the log when they have waited long enough.
    pub(crate) fn flush_due(&mut self, now: Timestamp) {
        self.logs.requests.iter_mut().for_each(|log| log.flush_due(now));
        self.logs.events.iter_mut().for_each(|log| log.flush_due(now));
    }

    /// Completes the log and returns the truth. Every row must have been closed.
    pub(crate) fn finish(self, clock_starts_unix_ns: Vec<u64>) -> ServerTruth {
        debug_assert!(self.totals.is_balanced(), "a request without an ending: {:?}", self.totals);
        let of_requests = self.logs.requests.and_then(|log| log.finish().err());
        let of_events = self.logs.events.and_then(|log| log.finish().err());
        let log_error = of_requests.or(of_events);
        let (rows, streams) = (self.rows.unwrap_or_default(), self.streams);
        ServerTruth { rows, streams, totals: self.totals, clock_starts_unix_ns, log_error }
    }
}

/// How a request ends once `action` is complete.
pub(crate) fn ending_after(action: Action) -> Ending {
    match action {
        Action::Answer { .. } | Action::SlowBody { .. } => Ending::Answered,
        Action::ShortBody => Ending::ShortBody,
        Action::Garbage => Ending::Garbage,
        Action::Reset => Ending::Reset,
        Action::BlackHole => Ending::BlackHole,
    }
}
