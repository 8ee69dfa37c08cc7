//! From a request that finds no idle connection to one that is open, and secured where it has to be.

use std::os::fd::AsFd;

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Nanos, Timestamp};

use super::{Moment, READS_IN_A_ROW, Worker};
use crate::connection::{Connection, Exchange};
use crate::pool::Token;
use crate::stamps;
use crate::transport::Transport;

impl Worker {
    /// Opens a connection for a request, which waits on it.
    pub(super) fn begin_connecting(&mut self, exchange: Exchange) {
        let (open, ports) = (self.pool.open(), &mut self.ports);
        let connection = match Connection::open(&self.setting.endpoint, exchange, || ports.pick(open)) {
            Ok(connection) => connection,
            Err(cause) => {
                let now = self.now();
                return self.record(&exchange, Moment::read_at(now), Outcome::ConnectFailed(cause), 0);
            }
        };
        // A system that cannot stamp says so with each answer that has no stamp.
        if self.setting.stamped {
            let _ = stamps::enable(connection.socket.as_fd());
        }
        let token = self.pool.insert(connection);
        self.set_deadline(token.slot(), exchange.began);
        let added = self.reactor.add(&self.pool.get(token.slot()).socket, token.0);
        if added.is_err() {
            let now = self.now();
            self.end(token.slot(), now, Outcome::ConnectFailed(Cause::NoFileDescriptor));
        }
    }

    /// The socket of a connection that is being opened has something to say.
    pub(super) fn finish_connecting(&mut self, token: Token) {
        let now = self.now();
        let (slot, paused) = (token.slot(), self.watch.total());
        let connection = self.pool.get(slot);
        match (connection.connected(), &self.setting.tls) {
            (None, _) => {}
            (Some(Err(cause)), _) => self.end(slot, now, Outcome::ConnectFailed(cause)),
            (Some(Ok(())), None) => self.connected(slot, now),
            (Some(Ok(())), Some(tls)) => match connection.begin_securing(tls, now, paused) {
                Ok(()) => self.secure(token),
                Err(cause) => self.end(slot, now, Outcome::ConnectFailed(cause)),
            },
        }
    }

    /// Goes on with the TLS handshake.
    pub(super) fn secure(&mut self, token: Token) {
        let secured = self.pool.get(token.slot()).secure(&mut self.buffer, &mut self.opened);
        let now = self.now();
        match secured {
            None => {}
            Some(Err(cause)) => self.end(token.slot(), now, Outcome::ConnectFailed(cause)),
            Some(Ok(())) => {
                self.connected(token.slot(), now);
                self.hear_early(token, now);
                self.read(token, true, READS_IN_A_ROW);
            }
        }
    }

    /// The connection is there at `now`, and secured where it has to be.
    fn connected(&mut self, slot: u32, now: Timestamp) {
        let paused = self.watch.total();
        let connection = self.pool.get(slot);
        let exchange = &mut connection.exchange;
        let connect = took(now, exchange.began, paused, exchange.paused_by_then);
        exchange.connect = Some(connect);
        if let Transport::Tls(session) = &connection.transport {
            exchange.handshake = Some(took(now, session.began, paused, session.paused_by_then).min(connect));
        }
        self.send(slot, now);
    }
}

/// How long it took from `since` to `now`, when all pauses of the worker were `paused_by_then` and `paused` together: while
/// it was not running it could not see that it was over.
pub(super) fn took(now: Timestamp, since: Timestamp, paused: Nanos, paused_by_then: Nanos) -> Nanos {
    now.since(since).saturating_sub(paused.saturating_sub(paused_by_then))
}
