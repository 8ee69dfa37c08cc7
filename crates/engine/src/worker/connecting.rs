//! From a request that finds no connection to one that is open, and secured where it has to be.

use std::os::fd::AsFd;

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;

use super::clock::CompletionTime;
use super::{Worker, receiver};
use crate::connection::{Token, Transport, timestamps};
use crate::protocol::{Protocol, Tag};

impl<P: Protocol> Worker<P> {
    /// Opens a connection for a request, which waits for it.
    pub(super) fn open_connection(&mut self, tag: Tag) {
        if let Some(spare) = self.connections.spare() {
            self.drop_connection(spare);
        }
        let exchange = self.in_flight.get(tag);
        let (user, origin) = (exchange.user, exchange.origin);
        let endpoint = &self.config.ways[origin as usize].endpoint;
        let slot = match self.connections.connect(endpoint, &self.protocol, tag, (user, origin)) {
            Ok(slot) => slot,
            Err(cause) => {
                let now = self.clock.now();
                self.connections.opening_failed(origin, now);
                return self.end(tag, CompletionTime::read_at(now), Outcome::ConnectFailed(cause), 0);
            }
        };
        self.in_flight.get(tag).connection = Some(slot);
        let token = self.connections.pool.token(slot);
        let connection = self.connections.pool.get(slot);
        // A system that cannot stamp says so with each answer that has no stamp.
        if self.config.stamped {
            let _ = timestamps::enable(connection.socket.as_fd());
        }
        if self.reactor.add(&connection.socket, token.0).is_err() {
            self.opening_failed(slot, Cause::NoFileDescriptor);
        }
    }

    fn opening_failed(&mut self, slot: u32, cause: Cause) {
        let now = self.clock.now();
        let (tag, origin) = (self.connections.opener(slot), self.connections.pool.origin(slot));
        let completion = self.clock.noticed(self.in_flight.get(tag), now);
        self.drop_connection(slot);
        self.connections.opening_failed(origin, now);
        self.end(tag, completion, Outcome::ConnectFailed(cause), 0);
        self.update_capacity(now);
    }

    /// The socket of a connection that is being opened has something to say.
    pub(super) fn finish_connecting(&mut self, token: Token) {
        let now = self.clock.now();
        let since = self.clock.since(now);
        let tls = &self.config.ways[self.connections.pool.origin(token.slot()) as usize].tls;
        let connection = self.connections.pool.get(token.slot());
        match (connection.connected(), tls) {
            (None, _) => {}
            (Some(Err(cause)), _) => self.opening_failed(token.slot(), cause),
            (Some(Ok(())), None) => self.opened(token, now),
            (Some(Ok(())), Some(tls)) => match connection.begin_securing(tls, since) {
                Ok(()) => self.secure(token),
                Err(cause) => self.opening_failed(token.slot(), cause),
            },
        }
    }

    /// Goes on with the TLS handshake.
    pub(super) fn secure(&mut self, token: Token) {
        let connection = self.connections.pool.get(token.slot());
        let secured = connection.secure(&mut self.receiver.buffer, &mut self.receiver.decrypted);
        let not_agreed = P::REQUIRED_ALPN.filter(|(alpn, _)| !connection.transport.may_speak(alpn));
        let now = self.clock.now();
        match (secured, not_agreed) {
            (None, _) => {}
            (Some(Err(cause)), _) | (Some(Ok(())), Some((_, cause))) => self.opening_failed(token.slot(), cause),
            (Some(Ok(())), None) => self.opened(token, now),
        }
    }

    /// The connection is there at `now`: the request that waited for it is the first on it.
    fn opened(&mut self, token: Token, now: Timestamp) {
        let (slot, since) = (token.slot(), self.clock.since(now));
        let tag = self.connections.opened(slot);
        let exchange = self.in_flight.get(tag);
        let connect = exchange.began.elapsed(since);
        exchange.rare().connect = Some(connect);
        let handshake = match &self.connections.pool.get(slot).transport {
            Transport::Tls(session) => Some(session.began.elapsed(since).min(connect)),
            Transport::Plain => None,
        };
        if handshake.is_some() {
            exchange.rare().handshake = handshake;
        }
        self.begin_on(slot, tag, now);
        self.flush(slot, now);
        if handshake.is_some() {
            self.receive_early(token, now);
        }
        // A server that speaks first, or has closed already, is not reported again.
        self.read(token, true, receiver::READS_IN_A_ROW);
    }
}
