//! One connection: a socket, perhaps TLS over it, and a session of the protocol that is spoken.
//!
//! | file | what is in it |
//! |---|---|
//! | `socket` | opening a socket, sending and receiving |
//! | `race` | which of several addresses is reached |
//! | `transport` | plain bytes, or TLS |
//! | `timestamps` | when bytes reached this host, by the kernel |
//! | `pool` | the connections of a worker, by slot |
//! | `local_ports` | ports of our own choice, for very many connections |

mod local_ports;
mod pool;
mod race;
mod socket;
#[cfg(target_os = "linux")]
pub(crate) mod timestamps;
#[cfg(not(target_os = "linux"))]
#[path = "timestamps_unsupported.rs"]
pub(crate) mod timestamps;
mod transport;

use std::io;
use std::os::fd::AsFd;

use socket2::Socket;
use truetail_model::record::Cause;
use truetail_model::time::Nanos;

pub(crate) use local_ports::LocalPorts;
pub(crate) use pool::{Pool, Token};
pub(crate) use race::{ATTEMPT_DELAY, Race, may_be_elsewhere};
pub(crate) use socket::connect;
use timestamps::WallTime;
pub(crate) use transport::{TlsFailure, Transport};

use crate::protocol::{Closed, Events, Flow, Session, Tag};
use crate::since::Since;
use crate::target::endpoint::Endpoint;
use crate::tls::{Tls, TlsSession};

/// What a connection is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// TCP is being set up.
    Connecting,
    /// TCP is there, and TLS is being set up.
    Securing,
    /// Requests can be sent.
    Open,
    /// It has ended; nothing is sent or received any more.
    Closed,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection<S> {
    pub(crate) socket: Socket,
    pub(crate) transport: Transport,
    pub(crate) session: S,
    pub(crate) phase: Phase,
    /// The request for which it is being opened.
    pub(crate) opener: Option<Tag>,
    /// The attempts to open it, if its origin has several addresses.
    pub(crate) race: Option<Box<Race>>,
    /// More lies here than was read in one turn, and the worker knows it.
    pub(crate) is_unread: bool,
    /// There may be something to send, and the worker knows it.
    pub(crate) is_dirty: bool,
    /// When the transport stopped taking bytes, if it has not taken all since.
    pub(crate) blocked: Option<Since>,
    /// It has carried an answer and was kept for the next request.
    pub(crate) was_idle: bool,
    /// Segments that had come out of order when that was last asked; `None`: the system does not say.
    out_of_order: Option<u32>,
}

impl<S> Connection<S> {
    /// Begins to connect to `endpoint` for the request `opener`; see [`socket::connect`] for `pick`.
    ///
    /// # Errors
    /// Why no attempt can be made.
    pub(crate) fn open(
        endpoint: &Endpoint,
        session: S,
        opener: Tag,
        pick: impl FnMut() -> Option<u16>,
    ) -> Result<Connection<S>, Cause> {
        Ok(Connection {
            socket: socket::connect(endpoint, pick)?,
            transport: Transport::Plain,
            session,
            phase: Phase::Connecting,
            opener: Some(opener),
            race: None,
            is_unread: false,
            is_dirty: false,
            blocked: None,
            was_idle: false,
            out_of_order: Some(0),
        })
    }

    /// The outcome of connecting, once a socket is writable. `None`: it is still going on.
    pub(crate) fn connected(&mut self) -> Option<Result<(), Cause>> {
        let own = socket::connected(&self.socket);
        match &mut self.race {
            Some(race) => race.outcome(&mut self.socket, own),
            None => own,
        }
    }

    /// Goes on with a further attempt to open it, at the address with this number. If the attempt of its own socket has
    /// failed, the new one takes its place.
    pub(crate) fn add_attempt(&mut self, socket: Socket, number: u32, own_has_failed: bool) -> &Socket {
        let race = self.race.as_mut().expect("an origin with several addresses");
        race.add(socket, number, &mut self.socket, own_has_failed)
    }

    /// Goes on with an attempt that was begun before, in place of that of its own socket, which has failed. False if there is
    /// none.
    pub(crate) fn fall_back(&mut self) -> bool {
        self.race.as_mut().is_some_and(|race| race.fall_back(&mut self.socket))
    }

    /// Begins to set up TLS on a connection that is there.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub(crate) fn begin_securing(&mut self, tls: &Tls, now: Since) -> Result<(), Cause> {
        let session = TlsSession::new(tls, now).map_err(|_| Cause::Tls)?;
        self.transport = Transport::Tls(Box::new(session));
        self.phase = Phase::Securing;
        Ok(())
    }

    /// Goes on with the TLS handshake for as long as there is something to read. `None`: it is still going on. What the
    /// peer said already is in `decrypted` when it is over.
    pub(crate) fn secure(&mut self, buffer: &mut [u8], decrypted: &mut Vec<u8>) -> Option<Result<(), Cause>> {
        decrypted.clear();
        loop {
            let Transport::Tls(session) = &mut self.transport else { return Some(Ok(())) };
            if !session.is_handshaking() {
                // Its last message goes out together with the request.
                return Some(Ok(()));
            }
            if let (_, Err(_)) = session.flush(&self.socket) {
                return Some(Err(Cause::ResetInHandshake));
            }
            let n = match self.read(buffer, false) {
                Ok(None) => return None,
                Ok(Some((0, _))) => return Some(Err(Cause::Tls)),
                Ok(Some((n, _))) => n,
                Err(_) => return Some(Err(Cause::ResetInHandshake)),
            };
            if self.transport.decrypt(&self.socket, &buffer[..n], decrypted).is_err() {
                return Some(Err(Cause::Tls));
            }
        }
    }

    /// Hands bytes to the transport, as many as it takes, and says how many those were.
    #[inline(always)]
    pub(crate) fn write<P>(&mut self, protocol: &P) -> (usize, io::Result<()>)
    where
        S: Session<P>,
    {
        let bytes = self.session.output(protocol);
        match &mut self.transport {
            Transport::Plain => socket::write(&self.socket, bytes),
            Transport::Tls(session) => session.write(&self.socket, bytes),
        }
    }

    /// Reads once, and says when the last of it arrived, where the kernel was asked and says so. `None`: there is nothing
    /// to read now.
    #[inline(always)]
    pub(crate) fn read(&mut self, buffer: &mut [u8], stamped: bool) -> io::Result<Option<(usize, Option<WallTime>)>> {
        socket::read(&self.socket, buffer, stamped)
    }

    /// The bytes for the session, of those that were just read; and what is wrong behind them, where TLS cannot be read on.
    #[inline(always)]
    pub(crate) fn decrypt<'a>(&mut self, read: &'a [u8], decrypted: &'a mut Vec<u8>) -> (&'a [u8], Option<TlsFailure>) {
        if matches!(self.transport, Transport::Plain) {
            return (read, None);
        }
        decrypted.clear();
        let failure = self.transport.decrypt(&self.socket, read, decrypted).err();
        (decrypted, failure)
    }

    /// Hands bytes that came to the session. Where they break the rules the peer is told why, if it still listens, and the
    /// connection is closed.
    #[inline(always)]
    pub(crate) fn receive<P>(&mut self, protocol: &mut P, bytes: &[u8], events: &mut Events)
    where
        S: Session<P>,
    {
        if let Flow::Close(_) = self.session.receive(protocol, bytes, events) {
            let _ = self.write(protocol);
            self.phase = Phase::Closed;
        }
    }

    /// The connection came to its end: nothing is sent or received on it any more.
    pub(crate) fn closed<P>(&mut self, how: Closed, events: &mut Events)
    where
        S: Session<P>,
    {
        self.session.closed(how, events);
        self.phase = Phase::Closed;
    }

    /// Nothing speaks against another request, as far as the transport goes.
    #[inline]
    pub(crate) fn is_reusable(&self) -> bool {
        self.transport.is_open() && !self.transport.has_more_to_send()
    }

    /// Whether a stamp of `age` may be that of a segment which had to wait for one that was lost. The kernel stamps what
    /// it reads last with its own arrival, and not with that of the segment which made it readable, so that the time of
    /// a retransmission would be missing. Stamps younger than `unchecked` are not asked about: so much may be missing.
    /// `remember`: the next answer is compared with what was seen by now.
    pub(crate) fn was_overtaken(&mut self, age: Nanos, unchecked: Nanos, remember: bool) -> bool {
        if age < unchecked {
            return false;
        }
        let seen = timestamps::out_of_order(self.socket.as_fd());
        let before = self.out_of_order;
        if remember {
            self.out_of_order = seen;
        }
        seen.is_none() || seen != before
    }
}
