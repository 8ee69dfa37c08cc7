//! Reads what arrives, and determines when it arrived.

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;

use super::Worker;
use super::clock::{CompletionTime, WorkerClock};
use super::receiver::{READ_BUFFER, READS_AT_LAST, READS_IN_A_ROW};
use super::sleeping::Sleeper;
use crate::connection::timestamps::WallTime;
use crate::connection::{Connection, Phase, Token};
use crate::placement::Placement;
use crate::protocol::{Closed, Protocol, Tag};

impl<P: Protocol, L: Placement<P>> Worker<P, L> {
    pub(super) fn read_on(&mut self, token: Token) {
        let Some(connection) = self.connections.pool.find(token) else { return };
        connection.noted.is_unread = false;
        self.read(token, true, READS_IN_A_ROW);
    }

    /// Reads what has arrived for a request that will be given up. It may have been answered, because one report does
    /// not show everything that is ready, and long answers are read in turns. Returns the end of the reading.
    pub(super) fn read_before_giving_up(&mut self, tag: Tag) -> Timestamp {
        let began = self.clock.now();
        let Some(slot) = self.in_flight.get(tag).connection else { return began };
        let Some(until) = self.receiver.begin_last_read(began) else { return began };
        let turn_ends = std::mem::replace(&mut self.receiver.turn_ends, until);
        self.read(self.connections.pool.token(slot), true, READS_AT_LAST);
        self.receiver.turn_ends = turn_ends;
        let done = self.clock.now();
        self.receiver.end_last_read(done.since(began));
        done
    }

    /// Continues to read from connections that had to wait for others, until the turn is over.
    pub(super) fn read_unread(&mut self) {
        let mut tokens = self.receiver.take_unread().into_iter();
        while !self.receiver.turn_is_over()
            && let Some(token) = tokens.next()
        {
            self.read_on(token);
            self.place_waiting();
            self.start_between_answers();
        }
        self.receiver.put_back(tokens);
    }

    /// Reads what is available, at most `most` times, until the turn is over. `may_have_ended`: the peer may have
    /// closed the connection, so a short read does not mean that everything was read.
    #[inline(always)]
    pub(super) fn read(&mut self, token: Token, may_have_ended: bool, most: u32) {
        for _ in 0..most {
            match self.read_once(token) {
                None => return,
                Some(count) if count < READ_BUFFER && !may_have_ended => return,
                Some(_) if self.receiver.turn_is_over() => break,
                Some(_) => {}
            }
        }
        if let Some(connection) = self.connections.pool.find(token)
            && !std::mem::replace(&mut connection.noted.is_unread, true)
        {
            self.receiver.unread.push(token);
        }
    }

    /// Reads once and handles what arrived. Returns the number of bytes, or `None` if nothing more can be read now.
    #[inline(always)]
    fn read_once(&mut self, token: Token) -> Option<usize> {
        let slot = token.slot();
        let connection = self.connections.pool.find(token).filter(|connection| connection.phase == Phase::Open)?;
        let read = connection.read(&mut self.receiver.buffer, self.config.stamped);
        let now = self.clock.now();
        self.receiver.read_at = now;
        let (count, stamp) = match read {
            Ok(Some((count @ 1.., stamp))) => (count, stamp),
            Ok(None) => return None,
            Ok(Some(_)) => {
                let authentic = connection.transport.end_is_authentic();
                self.handle_lost_connection(slot, Closed::EndOfStream { authentic }, now, None);
                return None;
            }
            Err(_) => {
                self.handle_lost_connection(slot, Closed::Reset, now, None);
                return None;
            }
        };
        let (stamp, at) = if self.events.wants_arrivals() {
            let arrived = arrival(&mut self.clock, &self.sleeper, connection, stamp, now, true);
            let at = arrived.unwrap_or(now);
            self.events.arrived(at);
            // Drop an implausible stamp: the next check would accept it, because this one remembers the count.
            (stamp.filter(|_| arrived.is_some()), at)
        } else {
            (stamp, now)
        };
        if let Some(reader) = self.events.pushes() {
            reader.set_origin(self.clock.origin_unix_ns());
        }
        let (bytes, failure) = connection.decrypt(&self.receiver.buffer[..count], &mut self.receiver.decrypted);
        connection.receive(&mut self.protocol, bytes, at, &mut self.events);
        let refused = failure.is_some_and(|failure| failure.alert && !failure.heard);
        let end = match failure {
            Some(failure) => Some(Closed::Tls { alert: failure.alert }),
            None => connection.transport.has_ended().then_some(Closed::EndOfStream { authentic: true }),
        };
        self.handle_events(slot, now, stamp);
        self.connections.pool.find(token)?;
        match end {
            // In TLS 1.3 a client may send before the server accepts it. If the server's first bytes are an alert, it
            // did not accept.
            Some(_) if refused => self.handle_refused_connection(slot, now),
            Some(how) => self.handle_lost_connection(slot, how, now, stamp),
            None => self.connections.touch(slot),
        }
        end.is_none().then_some(count)
    }

    /// Handles bytes that a server sent over TLS together with the end of the handshake.
    pub(super) fn receive_early(&mut self, token: Token, now: Timestamp) {
        let Some(connection) = self.connections.pool.find(token) else { return };
        self.events.arrived(now);
        connection.receive(&mut self.protocol, &self.receiver.decrypted, now, &mut self.events);
        self.receiver.decrypted.clear();
        self.handle_events(token.slot(), now, None);
    }

    /// Returns the arrival of the last segment that was read at `now`, if it is known. `remember`: an answer ended with
    /// it, so that segments that were out of order before do not matter for the next answer.
    #[inline]
    pub(super) fn arrival(
        &mut self,
        slot: u32,
        stamp: Option<WallTime>,
        now: Timestamp,
        remember: bool,
    ) -> Option<Timestamp> {
        arrival(&mut self.clock, &self.sleeper, self.connections.pool.get(slot), stamp, now, remember)
    }

    /// Returns the end of an answer that was read at `now`, or an error if the answer had arrived before its request
    /// was sent. `arrived` is the arrival of the last segment that was read, and `stamp` its stamp.
    ///
    /// The kernel stamps only the last bytes of a read. If one read contains several answers, those before the `last`
    /// arrived then or earlier: microseconds earlier, if the worker runs. If it did not run, its pause is subtracted.
    #[inline]
    pub(super) fn answer_completion(
        &mut self,
        tag: Tag,
        arrived: Option<Timestamp>,
        stamp: Option<WallTime>,
        now: Timestamp,
        last: bool,
    ) -> Result<CompletionTime, Outcome> {
        let exchange = self.in_flight.get(tag);
        let sent = exchange.started.instant;
        let slot = exchange.connection;
        match arrived.filter(|arrived| *arrived >= sent) {
            Some(arrived) if last => Ok(CompletionTime::stamped(arrived, now)),
            Some(arrived) => {
                let noticed = self.clock.estimate_completion(exchange, now);
                Ok(CompletionTime::stamped(arrived.min(noticed.arrived), now))
            }
            // On a new connection a server may speak first, for example to say why it refuses the request.
            None if !exchange.has_opened()
                && self.connections.answers_in_order(slot)
                && self.clock.is_before(stamp, sent) =>
            {
                Err(Outcome::Malformed(Cause::EarlyAnswer))
            }
            None => {
                self.receiver.unstamped += u64::from(self.config.stamped);
                self.sleeper.note_unstamped_end(now);
                Ok(self.clock.estimate_completion(exchange, now))
            }
        }
    }
}

/// Returns the arrival of the last segment that was read from `connection` at `now`, if it is known.
#[inline]
fn arrival<S>(
    clock: &mut WorkerClock,
    sleeper: &Sleeper,
    connection: &mut Connection<S>,
    stamp: Option<WallTime>,
    now: Timestamp,
    remember: bool,
) -> Option<Timestamp> {
    let arrived = clock.instant_of(stamp, now)?;
    (!connection.was_overtaken(now.since(arrived), sleeper.unchecked_age(), remember)).then_some(arrived)
}
