//! Counts of each second on three separate axes: planned by intended start, sent by actual start, ended by end.

use super::{Outcome, RequestRecord};

/// Counts of one second of a run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SecondCounts {
    /// Arrivals intended in this second.
    pub planned: u64,
    /// Arrivals whose actual start was in this second.
    pub sent: u64,
    /// Whole answers that ended in this second.
    pub completed: u64,
    /// Requests that failed or timed out in this second.
    pub failed: u64,
    /// Answers with an error status (400 and above) that ended in this second; part of `completed`.
    pub error_status: u64,
}

impl SecondCounts {
    fn merge(&mut self, other: &SecondCounts) {
        self.planned += other.planned;
        self.sent += other.sent;
        self.completed += other.completed;
        self.failed += other.failed;
        self.error_status += other.error_status;
    }
}

pub(super) fn merge(mine: &mut Vec<SecondCounts>, theirs: &[SecondCounts]) {
    if theirs.len() > mine.len() {
        mine.resize(theirs.len(), SecondCounts::default());
    }
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.merge(theirs));
}

/// Maximum number of rows of a run (twelve days). Later events count in the last row.
pub(super) const MAX_ROWS: usize = 1 << 20;

/// Room is reserved for at most this many rows (a day).
const MAX_RESERVED_ROWS: usize = 86_400;

pub(super) const fn row_of(second: usize) -> usize {
    if second < MAX_ROWS { second } else { MAX_ROWS - 1 }
}

pub(super) fn rows_for(expected: usize) -> Vec<SecondCounts> {
    Vec::with_capacity(expected.min(MAX_RESERVED_ROWS))
}

#[inline]
fn make_room_for(rows: &mut Vec<SecondCounts>, last: usize) {
    if last >= rows.len() {
        resize(rows, last + 1);
    }
}

/// Kept out of line, so that the hot path stays short.
#[cold]
#[inline(never)]
fn resize(rows: &mut Vec<SecondCounts>, len: usize) {
    rows.resize(len, SecondCounts::default());
}

/// Makes sure that there is a row for the first second.
pub(super) fn begin(rows: &mut Vec<SecondCounts>) {
    make_room_for(rows, 0);
}

/// Counts `n` never-issued arrivals like the one of `record`.
pub(super) fn count_unissued(rows: &mut Vec<SecondCounts>, record: &RequestRecord, n: u64) {
    let [intended, ended] = [record.intended_start, record.end].map(|instant| row_of(instant.second()));
    make_room_for(rows, intended.max(ended));
    rows[intended].planned += n;
}

pub(super) fn count(rows: &mut Vec<SecondCounts>, record: &RequestRecord) {
    let instants = [record.intended_start, record.actual_start, record.end];
    let [intended, started, ended] = instants.map(|instant| row_of(instant.second()));
    make_room_for(rows, intended.max(started).max(ended));
    rows[intended].planned += 1;
    if record.outcome != Outcome::NeverIssued {
        rows[started].sent += 1;
    }
    let ended = &mut rows[ended];
    match record.outcome {
        Outcome::Response { .. } => {
            ended.completed += 1;
            ended.error_status += u64::from(record.outcome.has_error_status());
        }
        Outcome::InFlightAtEnd | Outcome::NeverIssued => {}
        Outcome::ConnectFailed(_) | Outcome::Reset(_) | Outcome::Malformed(_) | Outcome::TimedOut => ended.failed += 1,
    }
}
