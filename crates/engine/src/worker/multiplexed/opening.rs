//! From a request that finds no connection to one that is open, secured where it has to be, and agreed to be HTTP/2.

use std::os::fd::AsFd;

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;

use super::super::connecting::took;
use super::super::{Moment, READS_IN_A_ROW, Worker};
use super::REST;
use super::links::Link;
use crate::connection::{Connection, Phase};
use crate::pool::Token;
use crate::stamps;
use crate::transport::Transport;

impl Worker {
    /// Opens a connection for the request in this slot, which waits on it.
    pub(super) fn open_link(&mut self, slot: u32) {
        let links = self.links.as_deref_mut().expect("a worker of HTTP/2");
        let exchange = links.stream(slot).exchange;
        let (open, ports) = (links.pool.open(), &mut self.ports);
        let connection = match Connection::open(&self.setting.endpoint, exchange, || ports.pick(open)) {
            Ok(connection) => connection,
            Err(cause) => {
                let now = self.now();
                self.links().opening_rests = Some(now + REST);
                return self.end_stream(slot, Moment::read_at(now), Outcome::ConnectFailed(cause), 0);
            }
        };
        // A system that cannot stamp says so with each answer that has no stamp.
        if self.setting.stamped {
            let _ = stamps::enable(connection.socket.as_fd());
        }
        let link = links.insert(Link::new(connection, slot, links.how.most_streams));
        links.stream(slot).link = link;
        let token = links.pool.token(link);
        if self.reactor.add(&links.pool.get(link).connection.socket, token.0).is_err() {
            self.opening_failed(link, Cause::NoFileDescriptor);
        }
    }

    fn opening_failed(&mut self, link: u32, cause: Cause) {
        let now = self.now();
        let slot = self.links().pool.get(link).opener.expect("a connection that is being opened");
        let moment = self.unstamped_stream_moment(slot, now);
        self.drop_link(link);
        self.links().opening_rests = Some(now + REST);
        self.end_stream(slot, moment, Outcome::ConnectFailed(cause), 0);
        self.tell_capacity(now);
    }

    /// The socket of a connection that is being opened has something to say.
    pub(super) fn finish_opening(&mut self, token: Token) {
        let now = self.now();
        let (link, paused) = (token.slot(), self.watch.total());
        let connection = &mut self.links.as_deref_mut().expect("a worker of HTTP/2").pool.get(link).connection;
        match (connection.connected(), &self.setting.tls) {
            (None, _) => {}
            (Some(Err(cause)), _) => self.opening_failed(link, cause),
            (Some(Ok(())), None) => self.link_is_there(token, now),
            (Some(Ok(())), Some(tls)) => match connection.begin_securing(tls, now, paused) {
                Ok(()) => self.secure_link(token),
                Err(cause) => self.opening_failed(link, cause),
            },
        }
    }

    /// Goes on with the TLS handshake.
    pub(super) fn secure_link(&mut self, token: Token) {
        let connection = &mut self.links.as_deref_mut().expect("a worker of HTTP/2").pool.get(token.slot()).connection;
        let secured = connection.secure(&mut self.buffer, &mut self.opened);
        let agreed = connection.transport.speaks_http2();
        let now = self.now();
        match secured {
            None => {}
            Some(Err(cause)) => self.opening_failed(token.slot(), cause),
            Some(Ok(())) if !agreed => self.opening_failed(token.slot(), Cause::NoHttp2),
            Some(Ok(())) => self.link_is_there(token, now),
        }
    }

    /// The connection is there at `now`: the request that waited for it is the first on it.
    fn link_is_there(&mut self, token: Token, now: Timestamp) {
        let (link, paused) = (token.slot(), self.watch.total());
        let links = self.links();
        links.opening_rests = None;
        let connection = links.pool.get(link);
        connection.connection.phase = Phase::Busy;
        let slot = connection.opener.take().expect("a connection that is being opened");
        let handshake = match &connection.connection.transport {
            Transport::Tls(session) => Some(took(now, session.began, paused, session.paused_by_then)),
            Transport::Plain => None,
        };
        let exchange = &mut links.stream(slot).exchange;
        let connect = took(now, exchange.began, paused, exchange.paused_by_then);
        exchange.connect = Some(connect);
        exchange.handshake = handshake.map(|handshake| handshake.min(connect));
        links.open(slot, link);
        self.send_on(link);
        self.hear_link_early(token);
        // A server that speaks first, or has closed already, is not reported again.
        self.read_link(token, true, READS_IN_A_ROW);
    }

    /// What the server has said over TLS with the end of the handshake.
    fn hear_link_early(&mut self, token: Token) {
        if self.opened.is_empty() || self.setting.tls.is_none() || self.links().pool.find(token).is_none() {
            return;
        }
        let opened = std::mem::take(&mut self.opened);
        let now = self.now();
        let fed = self.feed(token.slot(), &opened, None, now);
        self.opened = opened;
        self.opened.clear();
        if let Err(broken) = fed {
            self.link_broke(token.slot(), broken, now);
        }
    }
}
