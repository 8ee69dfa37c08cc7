//! Where a worker reads to, what it has not read yet, and how long it may read.

use truetail_model::time::{Nanos, Timestamp};

use crate::connection::Token;

/// One for all connections of a worker; nothing of it is kept between reads.
pub(super) const READ_BUFFER: usize = 64 * 1024;
/// After so many reads in a row the other connections have their turn: a long answer must not make theirs look slow.
pub(super) const READS_IN_A_ROW: u32 = 4;
/// Reads from a connection that is given up: together more than a socket holds.
pub(super) const READS_AT_LAST: u32 = 256;
/// Reading, starting and giving up requests take this long each at most before a worker looks at the clock, the schedule and
/// what is asked of it.
pub(super) const LONGEST_TURN: Nanos = Nanos::from_millis(2);
/// Of the run, one part in this many may go into last reads from connections that are given up.
const LAST_READS_ONE_IN: u64 = 5;
/// The longest that last reads may take in a row: what a pause of this machine leaves to be read of many connections.
const MAX_LAST_READS: Nanos = Nanos::from_millis(100);
/// The longest that last reads may take when the run is over.
const LAST_READS_AT_END: Nanos = Nanos::from_millis(500);

/// Where a worker reads to, and what it has not read yet.
#[derive(Debug)]
pub(super) struct Receiver {
    pub(super) buffer: Box<[u8]>,
    /// What was in bytes that came over TLS.
    pub(super) decrypted: Vec<u8>,
    /// Connections of which only a part was read of what is there, so that the others have their turn.
    pub(super) unread: Vec<Token>,
    /// How many of the last reports are still to be dealt with.
    pub(super) reports_left: usize,
    /// In this turn reports are dealt with before connections that were not read to the end. In every second one, so that
    /// neither keeps the other waiting where a turn is too short for both.
    pub(super) reports_come_first: bool,
    /// The last turn was too short for all that is to be read.
    pub(super) is_behind: bool,
    /// The turn is over at this instant.
    pub(super) turn_ends: Timestamp,
    /// When something was last read.
    pub(super) read_at: Timestamp,
    last_reads: LastReads,
    /// The worker paused around its last poll, so that more may have come than that poll showed.
    pub(super) may_have_missed: bool,
    /// Times that bytes came on a connection on which nothing was asked.
    pub(super) stray_answers: u64,
    /// Answers of which the kernel was asked when they arrived, and did not say.
    pub(super) unstamped: u64,
}

impl Receiver {
    pub(super) fn new() -> Receiver {
        Receiver {
            buffer: vec![0; READ_BUFFER].into_boxed_slice(),
            decrypted: Vec::new(),
            unread: Vec::new(),
            reports_left: 0,
            reports_come_first: false,
            is_behind: false,
            turn_ends: Timestamp::NEVER,
            read_at: Timestamp::ZERO,
            last_reads: LastReads { credit: MAX_LAST_READS, as_of: Timestamp::ZERO },
            may_have_missed: false,
            stray_answers: 0,
            unstamped: 0,
        }
    }

    /// There is more to read, or there may be.
    pub(super) fn has_more(&self) -> bool {
        !self.unread.is_empty() || self.may_have_missed || self.reports_left > 0
    }

    /// A turn of [`LONGEST_TURN`] begins at `now`.
    pub(super) fn begin_turn(&mut self, now: Timestamp) {
        (self.turn_ends, self.read_at) = (now + LONGEST_TURN, now);
        self.reports_come_first = !self.reports_come_first;
    }

    /// What is still to be read has to wait for the next turn.
    #[inline]
    pub(super) fn turn_is_over(&self) -> bool {
        self.read_at >= self.turn_ends
    }

    pub(super) fn take_unread(&mut self) -> Vec<Token> {
        std::mem::take(&mut self.unread)
    }

    /// Puts back connections that had no turn, before those that had one.
    pub(super) fn put_back(&mut self, had_no_turn: impl Iterator<Item = Token>) {
        self.unread.splice(..0, had_no_turn);
    }

    /// The run is over at `now`: what is in flight may be read for [`LAST_READS_AT_END`] in all.
    pub(super) fn end_run(&mut self, now: Timestamp) {
        self.last_reads = LastReads { credit: LAST_READS_AT_END, as_of: now };
    }

    /// Begins to read from a connection that is to be given up, at `now`: until the instant that this returns at the latest.
    /// `None` if there is no time for it.
    pub(super) fn begin_last_read(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.last_reads.refill(now);
        (!self.last_reads.credit.is_zero()).then(|| now + self.last_reads.credit)
    }

    /// Such a read took so long.
    pub(super) fn end_last_read(&mut self, took: Nanos) {
        self.last_reads.credit = self.last_reads.credit.saturating_sub(took);
    }
}

/// The time that may go into last reads. A server that sends without end must not keep the worker from its schedule.
#[derive(Debug)]
struct LastReads {
    credit: Nanos,
    as_of: Timestamp,
}

impl LastReads {
    fn refill(&mut self, now: Timestamp) {
        let earned = Nanos(now.since(self.as_of).0 / LAST_READS_ONE_IN);
        let most = MAX_LAST_READS.max(self.credit);
        self.credit = Nanos(self.credit.0.saturating_add(earned.0)).min(most);
        self.as_of = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_reads_take_a_part_of_the_time_and_end() {
        let mut receiver = Receiver::new();
        let ms = |ms: u64| Timestamp(ms * 1_000_000);
        let mut read = |at: u64| {
            let until = receiver.begin_last_read(ms(at))?;
            receiver.end_last_read(until.since(ms(at)));
            Some(until)
        };
        assert_eq!(read(10_000), Some(ms(10_100)), "after long, no more than this");
        assert_eq!(read(10_000), None);
        assert_eq!(read(10_050), Some(ms(10_060)), "a fifth of the time since");
        receiver.end_run(ms(11_000));
        assert_eq!(receiver.begin_last_read(ms(11_000)), Some(ms(11_500)));
    }
}
