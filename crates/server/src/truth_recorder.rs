//! Records the truth: every admitted request gets exactly one row, whatever becomes of it.

use truetail_model::service::{Action, ResponsePlan};
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
}

/// Rows in memory, counts, and the truth log.
#[derive(Debug)]
pub(crate) struct TruthRecorder {
    rows: Option<Vec<TruthRow>>,
    streams: Vec<StreamTruth>,
    log: Option<TruthLog>,
    pub(crate) totals: Totals,
}

impl TruthRecorder {
    /// A recorder that keeps rows in memory where `keep_rows`, and writes them to `log` where there is one.
    pub(crate) fn new(keep_rows: bool, log: Option<TruthLog>) -> TruthRecorder {
        TruthRecorder { rows: keep_rows.then(Vec::new), streams: Vec::new(), log, totals: Totals::default() }
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

    /// Keeps what is known of a stream that ended, where rows are kept.
    pub(crate) fn add_stream(&mut self, stream: StreamTruth) {
        if self.rows.is_some() {
            self.streams.push(stream);
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
        if let Some(log) = &mut self.log {
            log.add(row, now);
        }
    }

    /// When [`TruthRecorder::flush_due`] has something to do, if it ever has.
    pub(crate) fn flush_at(&self) -> Option<Timestamp> {
        self.log.as_ref().and_then(TruthLog::flush_at)
    }

    /// Sends rows to the writer of the log when they have waited long enough.
    pub(crate) fn flush_due(&mut self, now: Timestamp) {
        if let Some(log) = &mut self.log {
            log.flush_due(now);
        }
    }

    /// Completes the log and returns the truth. Every row must have been closed.
    pub(crate) fn finish(self, clock_starts_unix_ns: Vec<u64>) -> ServerTruth {
        debug_assert!(self.totals.is_balanced(), "a request without an ending: {:?}", self.totals);
        let log_error = self.log.and_then(|log| log.finish().err());
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
