//! Opens connections, mostly for requests that find none: TCP, then TLS, then what the protocol exchanges first.

use std::io;
use std::os::fd::AsFd;

use socket2::Socket;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;
use truetail_reactor::Reactor;

use super::clock::CompletionTime;
use super::{Worker, receiver};
use crate::connection::{Opener, Phase, Race, Token, Transport, may_be_elsewhere, timestamps};
use crate::placement::{Placement, Requester};
use crate::protocol::{Conversation, Flow, Protocol, Tag};

impl<P: Protocol, L: Placement<P>> Worker<P, L> {
    /// Opens a connection at `now` for a request, which waits for it.
    pub(super) fn open_connection(&mut self, tag: Tag, now: Timestamp) {
        if let Some(spare) = self.connections.spare() {
            self.drop_connection(spare);
        }
        let requester = self.in_flight.get(tag).requester;
        match self.begin_opening(Opener::Request(tag), requester, now) {
            Ok(slot) => self.in_flight.get(tag).connection = Some(slot),
            Err(cause) => self.end(tag, CompletionTime::read_at(now), Outcome::ConnectFailed(cause), 0),
        }
    }

    /// Begins to open a connection at `now`.
    ///
    /// # Errors
    /// If no attempt can be made.
    pub(super) fn begin_opening(&mut self, opener: Opener, requester: Requester, now: Timestamp) -> Result<u32, Cause> {
        let origin = requester.origin;
        let endpoints = &self.config.destinations[origin as usize].endpoints;
        let opening = self.connections.connect(endpoints, &self.protocol, opener, requester, now);
        let slot = opening.inspect_err(|_| self.connections.mark_opening_failed(origin, now))?;
        let token = self.connections.pool.token(slot);
        let is_watched = watch(&self.reactor, &self.connections.pool.get(slot).socket, token, self.config.stamped);
        if is_watched.is_err() {
            self.drop_connection(slot);
            self.connections.mark_opening_failed(origin, now);
            self.update_capacity(now);
            return Err(Cause::NoFileDescriptor);
        }
        Ok(slot)
    }

    /// Begins an attempt at the origin's next address for a connection that is being opened. Returns false if no
    /// further attempt can be made.
    fn try_next_address(&mut self, token: Token, own_has_failed: bool, now: Timestamp) -> bool {
        let Some(connection) = self.connections.pool.find(token) else { return false };
        if connection.race.is_none() {
            return false;
        }
        let endpoints = &self.config.destinations[self.connections.pool.origin(token.slot()) as usize].endpoints;
        let attempt = self.connections.try_next_address(token, endpoints, own_has_failed, now);
        attempt.is_some_and(|socket| watch(&self.reactor, socket, token, self.config.stamped).is_ok())
    }

    /// Tries a further address for each connection whose attempts have not succeeded in time by `now`.
    pub(super) fn try_further_addresses(&mut self, now: Timestamp) {
        while let Some(token) = self.connections.take_attempt(now) {
            self.try_next_address(token, false, now);
        }
    }

    pub(super) fn forget_attempts(&self, race: Option<&Race>) {
        for socket in race.iter().flat_map(|race| race.others()) {
            let _ = self.reactor.remove(socket);
        }
    }

    fn fail_opening(&mut self, slot: u32, cause: Cause, now: Timestamp) {
        let opener = self.connections.opener(slot);
        let origin = self.connections.pool.origin(slot);
        if let Opener::Request(tag) = opener {
            let completion = self.clock.estimate_completion(self.in_flight.get(tag), now);
            self.drop_connection(slot);
            self.connections.mark_opening_failed(origin, now);
            self.end(tag, completion, Outcome::ConnectFailed(cause), 0);
        } else {
            self.drop_connection(slot);
            self.ahead.fail(cause);
        }
        self.update_capacity(now);
    }

    /// Handles a report about the socket of a connection that is being opened.
    pub(super) fn finish_connecting(&mut self, token: Token) {
        let now = self.clock.now();
        let since = self.clock.since(now);
        match self.connections.pool.get(token.slot()).connected() {
            None => return,
            Some(Err(cause)) => {
                let goes_on = may_be_elsewhere(cause) && self.try_next_address(token, true, now)
                    || self.connections.pool.get(token.slot()).fall_back();
                if !goes_on {
                    self.fail_opening(token.slot(), cause, now);
                }
                return;
            }
            Some(Ok(())) => {}
        }
        let race = self.connections.end_race(token.slot());
        self.forget_attempts(race.as_deref());
        match &self.config.destinations[self.connections.pool.origin(token.slot()) as usize].tls {
            None => {
                self.receiver.decrypted.clear();
                self.begin_greeting(token);
            }
            Some(tls) => match self.connections.pool.get(token.slot()).begin_securing(tls, since) {
                Ok(()) => self.secure(token),
                Err(cause) => self.fail_opening(token.slot(), cause, now),
            },
        }
    }

    pub(super) fn secure(&mut self, token: Token) {
        let connection = self.connections.pool.get(token.slot());
        let secured = connection.secure(&mut self.receiver.buffer, &mut self.receiver.decrypted);
        let not_agreed = self.protocol.required_alpn().filter(|(alpn, _)| !connection.transport.may_speak(alpn));
        let now = self.clock.now();
        self.receiver.read_at = now;
        match (secured, not_agreed) {
            (None, _) => {}
            (Some(Err(cause)), _) | (Some(Ok(())), Some((_, cause))) => self.fail_opening(token.slot(), cause, now),
            (Some(Ok(())), None) => self.begin_greeting(token),
        }
    }

    /// Begins the protocol's opening exchange, with what the peer has already sent.
    fn begin_greeting(&mut self, token: Token) {
        self.connections.pool.get(token.slot()).phase = Phase::Greeting;
        self.greet_with_early_bytes(token);
    }

    /// Continues the protocol's opening exchange.
    pub(super) fn greet(&mut self, token: Token) {
        // Another connection may have left bytes there.
        self.receiver.decrypted.clear();
        self.greet_with_early_bytes(token);
    }

    fn greet_with_early_bytes(&mut self, token: Token) {
        let now = self.clock.now();
        if let Some(reader) = self.events.pushes() {
            reader.set_origin(self.clock.origin_unix_ns());
        }
        let connection = self.connections.pool.get(token.slot());
        let buffers = (&mut self.receiver.buffer[..], &mut self.receiver.decrypted);
        match connection.greet(&mut self.protocol, buffers, now, &mut self.events) {
            Ok(true) => self.finish_opening(token, now),
            Ok(false) => self.connections.note_deadline(token.slot()),
            Err(cause) => self.fail_greeting(token, cause, now),
        }
    }

    fn fail_greeting(&mut self, token: Token, cause: Cause, now: Timestamp) {
        // No request was on the connection, so nothing that happened on it is about one.
        let events = self.events.take();
        self.events.restore(events);
        self.fail_opening(token.slot(), cause, now);
    }

    /// Ends an opening whose wait is over, unless what was awaited has arrived.
    pub(super) fn end_overdue_greeting(&mut self, token: Token) {
        self.greet(token);
        let now = self.clock.now();
        let Some(connection) = self.connections.pool.find(token) else { return };
        if connection.phase == Phase::Greeting
            && connection.conversation.next_deadline() <= now
            && let Flow::Close(cause) = connection.conversation.on_deadline(&mut self.protocol, now, &mut self.events)
        {
            self.fail_greeting(token, cause, now);
        }
    }

    /// Marks a connection as open at `now`, and sends on it the request that waited for it, if one did.
    fn finish_opening(&mut self, token: Token, now: Timestamp) {
        let slot = token.slot();
        let since = self.clock.since(now);
        let opener = self.connections.mark_open(slot);
        self.connections.pool.get(slot).conversation.opened(now, &mut self.events);
        let began = match opener {
            Opener::Request(tag) => self.in_flight.get(tag).began,
            Opener::Load(began) => began,
        };
        let connect = began.elapsed_without_pauses(since);
        let handshake = match &self.connections.pool.get(slot).transport {
            Transport::Tls(session) => Some(session.began.elapsed_without_pauses(since).min(connect)),
            Transport::Plain => None,
        };
        match opener {
            Opener::Request(tag) => {
                let rare = self.in_flight.get(tag).rare();
                rare.connect = Some(connect);
                rare.handshake = handshake.or(rare.handshake);
                self.begin_on(slot, tag, now);
            }
            Opener::Load(_) => {
                self.ahead.note_open();
                self.ledger.record_opening(connect, handshake);
            }
        }
        self.flush(slot, now);
        self.update_capacity(now);
        if handshake.is_some() {
            self.receive_early(token, now);
        }
        // The reactor does not report again that the server speaks first or has closed already.
        self.read(token, true, receiver::READS_IN_A_ROW);
    }
}

/// Watches a socket for the connection of `token`. Stamping errors are ignored here: unstamped answers are counted.
fn watch(reactor: &Reactor, socket: &Socket, token: Token, stamped: bool) -> io::Result<()> {
    if stamped {
        let _ = timestamps::enable(socket.as_fd());
    }
    reactor.add(socket, token.0)
}
