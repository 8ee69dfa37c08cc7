//! The read buffers of a worker, its unread connections, and the limits on reading.

use truetail_model::time::{Nanos, Timestamp};

use crate::connection::Token;

/// Size of the buffer that all connections of a worker share. Nothing stays in it between reads.
pub(super) const READ_BUFFER: usize = 64 * 1024;
/// Limit on the reads in a row from one connection. Then others have their turn, so that a long answer does not delay
/// them.
pub(super) const READS_IN_A_ROW: u32 = 4;
/// Limit on the reads from a connection that is given up: together more than a socket buffer holds.
pub(super) const READS_AT_LAST: u32 = 256;
/// Longest time that a worker reads, starts or gives up requests before it checks clock, schedule and control.
pub(super) const LONGEST_TURN: Nanos = Nanos::from_millis(2);
/// One part in this many of the run may be spent on last reads from connections that are given up.
const LAST_READS_ONE_IN: u64 = 5;
/// Longest time for last reads in a row, such as of many connections after a pause of this machine.
const MAX_LAST_READS: Nanos = Nanos::from_millis(100);
/// Longest time for last reads when the run is over.
const LAST_READS_AT_END: Nanos = Nanos::from_millis(500);

#[derive(Debug)]
pub(super) struct Receiver {
    pub(super) buffer: Box<[u8]>,
    /// Plain bytes of what arrived over TLS.
    pub(super) decrypted: Vec<u8>,
    /// Connections that were not read to the end, because it was the turn of others.
    pub(super) unread: Vec<Token>,
    /// Number of the reactor's last reports that are still unhandled.
    pub(super) reports_left: usize,
    /// True if reports are handled before unread connections in this turn. It alternates, so that neither starves the
    /// other if a turn is too short for both.
    pub(super) reports_come_first: bool,
    /// True if the last turn was too short to read everything.
    pub(super) is_behind: bool,
    pub(super) turn_ends: Timestamp,
    pub(super) read_at: Timestamp,
    last_reads: LastReads,
    /// True if the worker paused around its last poll, so that more may have arrived than that poll showed.
    pub(super) may_have_missed: bool,
    /// Number of times that bytes arrived on a connection without a request in flight.
    pub(super) stray_answers: u64,
    /// Number of answers without a stamp although the kernel was asked to stamp them.
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

    /// Forgets every instant of the clock that counted before the load. What is left to read stays.
    pub(super) fn begin_load(&mut self) {
        let Receiver { turn_ends, read_at, last_reads, .. } = Receiver::new();
        (self.turn_ends, self.read_at, self.last_reads) = (turn_ends, read_at, last_reads);
    }

    /// Returns true if something is left to read, or may be.
    pub(super) fn has_more(&self) -> bool {
        !self.unread.is_empty() || self.may_have_missed || self.reports_left > 0
    }

    pub(super) fn begin_turn(&mut self, now: Timestamp) {
        (self.turn_ends, self.read_at) = (now + LONGEST_TURN, now);
        self.reports_come_first = !self.reports_come_first;
    }

    /// Returns true if the rest has to wait for the next turn.
    #[inline]
    pub(super) fn turn_is_over(&self) -> bool {
        self.read_at >= self.turn_ends
    }

    pub(super) fn take_unread(&mut self) -> Vec<Token> {
        std::mem::take(&mut self.unread)
    }

    /// Puts back connections that had no turn, ahead of connections that had one.
    pub(super) fn put_back(&mut self, had_no_turn: impl Iterator<Item = Token>) {
        self.unread.splice(..0, had_no_turn);
    }

    /// Ends the run at `now`: requests in flight may be read for [`LAST_READS_AT_END`] in all.
    pub(super) fn end_run(&mut self, now: Timestamp) {
        self.last_reads = LastReads { credit: LAST_READS_AT_END, as_of: now };
    }

    /// Begins a last read, at `now`, from a connection to give up. Returns its latest end; `None`: no time is left.
    pub(super) fn begin_last_read(&mut self, now: Timestamp) -> Option<Timestamp> {
        self.last_reads.refill(now);
        (!self.last_reads.credit.is_zero()).then(|| now + self.last_reads.credit)
    }

    pub(super) fn end_last_read(&mut self, took: Nanos) {
        self.last_reads.credit = self.last_reads.credit.saturating_sub(took);
    }
}

/// Time budget for last reads. A server that sends without end must not keep the worker from its schedule.
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
