//! What comes back: reading it, finding its end, and saying when it had arrived.

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Clock, Timestamp};
use truetail_reactor::Readiness;

use super::{Moment, READ_BUFFER, READS_AT_LAST, READS_IN_A_ROW, Worker};
use crate::connection::{Exchange, Phase};
use crate::http1::{Fed, Finished};
use crate::pool::Token;
use crate::stamps::WallTime;
use crate::transport::{Broken, Content};

impl Worker {
    #[inline(always)]
    pub(super) fn read_if_ready(&mut self, token: Token, readiness: Readiness) {
        if readiness.readable {
            self.read(token, readiness.may_have_ended, READS_IN_A_ROW);
        }
    }

    /// Reads on where others had to have their turn.
    pub(super) fn go_on_reading(&mut self, token: Token) {
        if self.links.is_some() {
            return self.go_on_reading_link(token);
        }
        let Some(connection) = self.pool.find(token) else { return };
        connection.unread = false;
        self.read(token, true, READS_IN_A_ROW);
    }

    /// What is given up may have been answered all the same: not all that is ready fits into one report, and long answers
    /// are read in turns.
    pub(super) fn read_before_giving_up(&mut self, slot: u32) {
        self.read(self.pool.token(slot), true, READS_AT_LAST);
    }

    /// Reads what there is of an answer, `most` times at most.
    #[inline(always)]
    pub(super) fn read(&mut self, token: Token, may_have_ended: bool, most: u32) {
        for _ in 0..most {
            let Some(connection) = self.pool.find(token) else { return };
            if connection.phase != Phase::Busy {
                return;
            }
            let read = connection.read(&mut self.buffer, self.setting.stamped);
            let now = self.setting.clock.now();
            self.watch.awake(now);
            let (n, stamp) = match read {
                Ok(None) => return,
                Ok(Some((0, _))) => return self.other_side_ended(token.slot(), None, now),
                Ok(Some(read)) => read,
                Err(_) => return self.reset(token.slot(), now),
            };
            let (content, broken) = connection.open_up(&self.buffer[..n], &mut self.opened);
            let content = match content {
                Content::AsRead => &self.buffer[..n],
                Content::Opened => &self.opened,
            };
            match connection.parser.feed_knowing(content, &mut self.last_head) {
                Err(cause) => return self.end(token.slot(), now, Outcome::Malformed(cause)),
                Ok(Fed::Finished(finished)) => {
                    return self.answered(token.slot(), (stamp, now), finished, may_have_ended);
                }
                Ok(Fed::More) if broken.is_some() => return self.broken_off(token.slot(), now, broken),
                Ok(Fed::More) if connection.transport.has_ended() => {
                    return self.other_side_ended(token.slot(), stamp, now);
                }
                // A short read took all there was, unless the end came with it.
                Ok(Fed::More) if n < READ_BUFFER && !may_have_ended => return,
                Ok(Fed::More) => {}
            }
        }
        self.leave_unread(token);
    }

    fn leave_unread(&mut self, token: Token) {
        if let Some(connection) = self.pool.find(token)
            && !connection.unread
        {
            connection.unread = true;
            self.unread.push(token);
        }
    }

    /// When an answer that was read at `now` had arrived. `None`: before it was asked for.
    fn moment_of(&mut self, slot: u32, stamp: Option<WallTime>, now: Timestamp) -> Option<Moment> {
        let connection = self.pool.get(slot);
        let sent = connection.exchange.actual_start;
        let (clock, unasked) = (&self.setting.clock, self.setting.unasked_age());
        let arrived = self
            .pairing
            .instant(clock, stamp, sent, now)
            .filter(|arrived| !connection.overtaken(now.since(*arrived), unasked));
        if let Some(arrived) = arrived {
            return Some(Moment { arrived, read: now, stamped: true });
        }
        if self.was_not_asked(slot, stamp) {
            return None;
        }
        self.unstamped += u64::from(self.setting.stamped);
        Some(self.unstamped_moment(slot, now))
    }

    /// On a connection that was kept, what had arrived before the request was sent answers nothing that was asked. A server
    /// may speak first on a new one: it says there why it will not listen.
    fn was_not_asked(&mut self, slot: u32, stamp: Option<WallTime>) -> bool {
        let exchange = &self.pool.get(slot).exchange;
        exchange.connect.is_none() && self.pairing.is_before(&self.setting.clock, stamp, exchange.actual_start)
    }

    /// When something arrived that was noticed at `now`. It was not there before the request was sent, nor when all was
    /// read that had come; had this worker run ever since, it would have noticed it so much earlier.
    pub(super) fn unstamped_moment(&mut self, slot: u32, now: Timestamp) -> Moment {
        let exchange = self.pool.get(slot).exchange;
        self.noticed(&exchange, now)
    }

    /// See [`Worker::unstamped_moment`].
    pub(super) fn noticed(&self, exchange: &Exchange, now: Timestamp) -> Moment {
        let before = self.paused_when_all_was_read.max(exchange.paused_by_then);
        let paused = self.watch.total().saturating_sub(before);
        let arrived = Timestamp(now.0.saturating_sub(paused.0)).max(exchange.actual_start);
        Moment { arrived, read: now, stamped: !paused.is_zero() }
    }

    /// A whole answer came, which bears this stamp where the kernel gave one and was read at `now`.
    fn answered(
        &mut self,
        slot: u32,
        (stamp, now): (Option<WallTime>, Timestamp),
        finished: Finished,
        may_have_ended: bool,
    ) {
        let Some(moment) = self.moment_of(slot, stamp, now) else {
            return self.end(slot, now, Outcome::Malformed(Cause::EarlyAnswer));
        };
        let connection = self.pool.get(slot);
        // Whoever answers before it has the whole request cannot be sent another one.
        let sent_all = connection.has_sent(self.setting.requests.bytes(connection.exchange.which).len());
        let may_go_on = self.setting.keep_alive && connection.transport.goes_on();
        let keep = finished.keep_alive && sent_all && may_go_on;
        self.end_at(slot, moment, Outcome::Response { status: finished.status }, keep);
        if keep && may_have_ended {
            self.read_idle(slot);
        }
    }

    fn other_side_ended(&mut self, slot: u32, stamp: Option<WallTime>, now: Timestamp) {
        let connection = self.pool.get(slot);
        let outcome = match connection.parser.end() {
            Ok(_) if !connection.transport.may_end() => Outcome::Malformed(Cause::Truncated),
            Ok(finished) => match self.moment_of(slot, stamp, now) {
                Some(moment) => return self.end_at(slot, moment, Outcome::Response { status: finished.status }, false),
                None => Outcome::Malformed(Cause::EarlyAnswer),
            },
            Err(cause @ Cause::ClosedBeforeAnswer) => Outcome::Reset(cause),
            Err(cause) => Outcome::Malformed(cause),
        };
        self.end(slot, now, outcome);
    }

    fn reset(&mut self, slot: u32, now: Timestamp) {
        let began_to_answer = self.pool.get(slot).parser.received() > 0;
        let outcome =
            if began_to_answer { Outcome::Malformed(Cause::Truncated) } else { Outcome::Reset(Cause::ResetByPeer) };
        self.end(slot, now, outcome);
    }

    /// TLS came to its end after its handshake, in another way than by its goodbye. Where the first that is heard is an
    /// alert, the server has refused the connection: in TLS 1.3 the client may speak before it is accepted.
    fn broken_off(&mut self, slot: u32, now: Timestamp, broken: Option<Broken>) {
        let connection = self.pool.get(slot);
        let is_new = connection.exchange.connect.is_some() && broken.is_some_and(|broken| !broken.heard);
        let outcome = match broken.is_some_and(|broken| broken.alert) {
            true if is_new => Outcome::ConnectFailed(Cause::Tls),
            true if connection.parser.received() == 0 => Outcome::Reset(Cause::TlsBroken),
            _ => Outcome::Malformed(Cause::TlsBroken),
        };
        self.end(slot, now, outcome);
    }

    /// What a server has said over TLS before it was asked.
    pub(super) fn hear_early(&mut self, token: Token, now: Timestamp) {
        let Some(connection) = self.pool.find(token) else { return };
        if connection.phase != Phase::Busy || self.opened.is_empty() {
            return;
        }
        match connection.parser.feed_knowing(&self.opened, &mut self.last_head) {
            Err(cause) => self.end(token.slot(), now, Outcome::Malformed(cause)),
            Ok(Fed::Finished(finished)) => self.answered(token.slot(), (None, now), finished, true),
            Ok(Fed::More) => {}
        }
    }

    /// Something came on a connection on which nothing was asked: its end, or bytes that belong to nobody; or what TLS
    /// says for itself, such as a ticket for the next session.
    pub(super) fn read_idle(&mut self, slot: u32) {
        loop {
            let connection = self.pool.get(slot);
            let n = match connection.read(&mut self.buffer, false) {
                Ok(None) => return,
                Ok(Some((n, _))) => n,
                Err(_) => return self.close(slot),
            };
            let (content, _) = connection.open_up(&self.buffer[..n], &mut self.opened);
            let stray = if content == Content::AsRead { n } else { self.opened.len() };
            if n == 0 || stray > 0 || !connection.transport.goes_on() {
                self.stray_answers += u64::from(stray > 0);
                return self.close(slot);
            }
        }
    }
}
