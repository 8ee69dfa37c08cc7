//! What happened in each second of the run. Three axes, never mixed: what was planned and how long it took goes by
//! intended start, what was sent by actual start, what ended by end.

use super::histogram::HotHistogram;
use super::{Metric, RequestRecord, SparseHistogram};

/// One second of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Second {
    /// Arrivals intended in this second.
    pub planned: u64,
    /// Arrivals whose actual start was in it.
    pub sent: u64,
    /// Whole answers that ended in it.
    pub completed: u64,
    /// Requests that failed or timed out in it.
    pub failed: u64,
    /// Answers with an error status (400 and above) that ended in it; part of `completed`.
    pub error_status: u64,
    /// The distributions of the arrivals intended in it, by [`Metric`] number.
    pub metrics: [SparseHistogram; Metric::COUNT],
}

impl Second {
    /// The distribution of one metric.
    pub fn metric(&self, metric: Metric) -> &SparseHistogram {
        &self.metrics[metric as usize]
    }

    fn merge(&mut self, other: &Second) {
        self.planned += other.planned;
        self.sent += other.sent;
        self.completed += other.completed;
        self.failed += other.failed;
        self.error_status += other.error_status;
        for (mine, theirs) in self.metrics.iter_mut().zip(&other.metrics) {
            mine.merge(theirs);
        }
    }
}

/// Adds the seconds of another hand.
pub(super) fn merge(mine: &mut Vec<Second>, theirs: &[Second]) {
    if theirs.len() > mine.len() {
        mine.resize_with(theirs.len(), Second::default);
    }
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.merge(theirs));
}

/// A run has at most this many rows (twelve days); what happens later is in the last one.
const MOST_ROWS: usize = 1 << 20;

/// Rows for which room is made beforehand at most (a day).
const MOST_ROWS_MADE_READY: usize = 86_400;

/// The row of a second.
pub(super) const fn row_of(second: usize) -> usize {
    if second < MOST_ROWS { second } else { MOST_ROWS - 1 }
}

/// Seconds whose distributions are still being written to, by number modulo this, in dense form.
const HOT: usize = 2;

/// The seconds of a run that is going on.
#[derive(Clone, Debug)]
pub(super) struct Seconds {
    rows: Vec<Second>,
    hot: [[HotHistogram; Metric::COUNT]; HOT],
    /// The newest second among the hot ones; the others are those just before it.
    newest: usize,
    distributions: bool,
}

impl Seconds {
    /// With room for `expected` seconds made beforehand; `distributions` or counts only.
    pub(super) fn new(expected: usize, distributions: bool) -> Seconds {
        let rows = Vec::with_capacity(expected.min(MOST_ROWS_MADE_READY));
        Seconds { rows, hot: Default::default(), newest: HOT - 1, distributions }
    }

    fn row(&mut self, second: usize) -> &mut Second {
        let row = row_of(second);
        if row >= self.rows.len() {
            self.rows.resize_with(row + 1, Second::default);
        }
        &mut self.rows[row]
    }

    pub(super) fn count(&mut self, record: &RequestRecord) {
        self.row(record.intended_start.second()).planned += 1;
        if record.outcome != super::Outcome::NeverIssued {
            self.row(record.actual_start.second()).sent += 1;
        }
        let ended = self.row(record.end.second());
        match record.outcome {
            super::Outcome::Response { status } => {
                ended.completed += 1;
                ended.error_status += u64::from(status >= 400);
            }
            super::Outcome::InFlightAtEnd | super::Outcome::NeverIssued => {}
            _ => ended.failed += 1,
        }
    }

    /// Adds a value to the distribution of `second`.
    #[inline]
    pub(super) fn record(&mut self, second: usize, metric: Metric, value: crate::time::Nanos) {
        if self.distributions {
            self.add(row_of(second), metric, value);
        }
    }

    /// Apart, so that a run without these distributions passes it by quickly.
    #[inline(never)]
    fn add(&mut self, second: usize, metric: Metric, value: crate::time::Nanos) {
        if second > self.newest {
            self.advance(second);
        }
        if self.newest - second < HOT {
            self.hot[second % HOT][metric as usize].record(value);
        } else {
            self.rows[second].metrics[metric as usize].record_n(value, 1);
        }
    }

    /// Makes `newest` the newest hot second.
    fn advance(&mut self, newest: usize) {
        for second in (self.newest + 1 - HOT)..=self.newest {
            if newest - second >= HOT {
                self.cool(second);
            }
        }
        self.newest = newest;
    }

    fn cool(&mut self, second: usize) {
        if second >= self.rows.len() {
            return;
        }
        let row = &mut self.rows[second];
        for (hot, cold) in self.hot[second % HOT].iter_mut().zip(&mut row.metrics) {
            hot.cool_into(cold);
        }
    }

    pub(super) fn finish(mut self) -> Vec<Second> {
        for second in (self.newest + 1 - HOT)..=self.newest {
            self.cool(second);
        }
        self.rows
    }
}
