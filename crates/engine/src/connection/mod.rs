//! One connection: a socket, perhaps with TLS, and a conversation of its protocol.
//!
//! | file | contents |
//! |---|---|
//! | `socket` | opening a socket, sending and receiving |
//! | `race` | attempts at several addresses |
//! | `transport` | plain bytes, or TLS |
//! | `timestamps` | the kernel's stamps of arrivals |
//! | `pool` | the connections of a worker, by slot |
//! | `local_ports` | a worker's own choice of ports, for very many connections |

mod local_ports;
mod pool;
mod race;
mod socket;
pub(crate) mod timestamps;
mod transport;

use std::io;
use std::os::fd::AsFd;

use socket2::Socket;
use truetail_model::record::Cause;
use truetail_model::time::{Nanos, Timestamp};

pub(crate) use local_ports::LocalPorts;
pub(crate) use pool::{Pool, Token};
pub(crate) use race::{ATTEMPT_DELAY, Race, may_be_elsewhere};
pub(crate) use socket::connect;
use timestamps::WallTime;
pub(crate) use transport::{TlsFailure, Transport};

use crate::protocol::{Closed, Conversation, Events, Flow, Tag};
use crate::target::endpoint::Endpoint;
use crate::tls::{Tls, TlsSession};
use crate::worker_instant::WorkerInstant;

/// State of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// TCP is being set up.
    Connecting,
    /// TCP is open, and TLS is being set up.
    Securing,
    /// The transport is open, and the conversation exchanges its own opening.
    Greeting,
    Open,
    /// The connection has ended, and sends and receives nothing more.
    Closed,
}

/// Reason for opening a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Opener {
    /// This request waits for it.
    Request(Tag),
    /// The load will need it. The attempt began at this instant.
    Load(WorkerInstant),
}

/// Lists of the worker that a connection is in.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Noted {
    /// The socket may hold more than was read in one turn.
    pub(crate) is_unread: bool,
    /// The conversation may have something to send.
    pub(crate) is_dirty: bool,
    /// It took a request beside another.
    pub(crate) is_crowded: bool,
}

#[derive(Debug)]
pub(crate) struct Connection<S> {
    pub(crate) socket: Socket,
    pub(crate) transport: Transport,
    pub(crate) conversation: S,
    pub(crate) phase: Phase,
    /// The reason for opening the connection, until it is open.
    pub(crate) opener: Option<Opener>,
    /// The attempts to open it, if its origin has several addresses.
    pub(crate) race: Option<Box<Race>>,
    pub(crate) noted: Noted,
    /// Start of the current time without progress in sending; `None` if the transport has taken everything.
    pub(crate) blocked: Option<WorkerInstant>,
    /// Deadline of the conversation that the worker has noted; [`Timestamp::NEVER`]: none.
    pub(crate) noted_deadline: Timestamp,
    /// True if the connection has carried an answer and was kept for the next request.
    pub(crate) was_idle: bool,
    /// Number of segments out of order when last asked; `None`: the system does not tell.
    out_of_order: Option<u32>,
}

impl<S> Connection<S> {
    /// Begins to connect to `endpoint` for `opener`; see [`socket::connect`] for `pick`.
    ///
    /// # Errors
    /// If no attempt can be made.
    pub(crate) fn open(
        endpoint: &Endpoint,
        conversation: S,
        opener: Opener,
        pick: impl FnMut() -> Option<u16>,
    ) -> Result<Connection<S>, Cause> {
        Ok(Connection {
            socket: socket::connect(endpoint, pick)?,
            transport: Transport::Plain,
            conversation,
            phase: Phase::Connecting,
            opener: Some(opener),
            race: None,
            noted: Noted::default(),
            blocked: None,
            noted_deadline: Timestamp::NEVER,
            was_idle: false,
            out_of_order: Some(0),
        })
    }

    /// Returns the outcome of connecting once a socket is writable, or `None` while it continues.
    pub(crate) fn connected(&mut self) -> Option<Result<(), Cause>> {
        let own = socket::connected(&self.socket);
        match &mut self.race {
            Some(race) => race.outcome(&mut self.socket, own),
            None => own,
        }
    }

    /// Adds a further attempt, at this address. It replaces the connection's own socket if that has failed.
    pub(crate) fn add_attempt(&mut self, socket: Socket, number: u32, own_has_failed: bool) -> &Socket {
        let race = self.race.as_mut().expect("an origin with several addresses");
        race.add(socket, number, &mut self.socket, own_has_failed)
    }

    /// Replaces the connection's own, failed socket by that of an earlier attempt. Returns false if none is left.
    pub(crate) fn fall_back(&mut self) -> bool {
        self.race.as_mut().is_some_and(|race| race.fall_back(&mut self.socket))
    }

    /// Begins the TLS handshake on an open connection.
    ///
    /// # Errors
    /// If the system provides no random numbers.
    pub(crate) fn begin_securing(&mut self, tls: &Tls, now: WorkerInstant) -> Result<(), Cause> {
        let session = TlsSession::new(tls, now).map_err(|_| Cause::Tls)?;
        self.transport = Transport::Tls(Box::new(session));
        self.phase = Phase::Securing;
        Ok(())
    }

    /// Continues the TLS handshake while there is something to read. Returns `None` while it is unfinished. Afterwards
    /// `decrypted` holds what the peer has already sent.
    pub(crate) fn secure(&mut self, buffer: &mut [u8], decrypted: &mut Vec<u8>) -> Option<Result<(), Cause>> {
        decrypted.clear();
        loop {
            let Transport::Tls(session) = &mut self.transport else { return Some(Ok(())) };
            if !session.is_handshaking() {
                // The last handshake message is sent together with the request.
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

    /// Continues the opening of the conversation, as far as the transport allows at `now`. Returns
    /// true when it is complete. `decrypted` holds what came together with the end of the TLS handshake.
    ///
    /// # Errors
    /// If it failed.
    pub(crate) fn greet<P>(
        &mut self,
        protocol: &mut P,
        (buffer, decrypted): (&mut [u8], &mut Vec<u8>),
        now: Timestamp,
        events: &mut Events,
    ) -> Result<bool, Cause>
    where
        S: Conversation<P>,
    {
        while !self.conversation.is_open() {
            let (taken, written) = self.write(protocol);
            self.conversation.sent(protocol, taken, now, events);
            written.map_err(|_| Cause::ResetByPeer)?;
            let (bytes, failure) = if decrypted.is_empty() {
                let count = match self.read(buffer, false) {
                    Ok(None) => return Ok(false),
                    Ok(Some((0, _))) => return Err(Cause::ClosedBeforeAnswer),
                    Ok(Some((count, _))) => count,
                    Err(_) => return Err(Cause::ResetByPeer),
                };
                self.decrypt(&buffer[..count], decrypted)
            } else {
                (&decrypted[..], None)
            };
            events.note_time(now);
            if let Flow::Close(cause) = self.conversation.receive(protocol, bytes, now, events) {
                return Err(cause);
            }
            if failure.is_some() {
                return Err(Cause::TlsBroken);
            }
            // The conversation has them.
            decrypted.clear();
        }
        Ok(true)
    }

    /// Hands bytes to the transport, as many as it takes, and returns their number.
    #[inline(always)]
    pub(crate) fn write<P>(&mut self, protocol: &P) -> (usize, io::Result<()>)
    where
        S: Conversation<P>,
    {
        let bytes = self.conversation.output(protocol);
        match &mut self.transport {
            Transport::Plain => socket::write(&self.socket, bytes),
            Transport::Tls(session) => session.write(&self.socket, bytes),
        }
    }

    /// Reads once. Returns the number of bytes, and the kernel's stamp of the last of them if `stamped` and available.
    /// `None`: nothing can be read now.
    #[inline(always)]
    pub(crate) fn read(&mut self, buffer: &mut [u8], stamped: bool) -> io::Result<Option<(usize, Option<WallTime>)>> {
        socket::read(&self.socket, buffer, stamped)
    }

    /// Returns the conversation's bytes in those just read, and the failure if TLS cannot continue after them.
    #[inline(always)]
    pub(crate) fn decrypt<'a>(&mut self, read: &'a [u8], decrypted: &'a mut Vec<u8>) -> (&'a [u8], Option<TlsFailure>) {
        if matches!(self.transport, Transport::Plain) {
            return (read, None);
        }
        decrypted.clear();
        let failure = self.transport.decrypt(&self.socket, read, decrypted).err();
        (decrypted, failure)
    }

    /// Hands received bytes to the conversation. If they break the protocol, tells the peer why and closes the
    /// connection.
    #[inline(always)]
    pub(crate) fn receive<P>(&mut self, protocol: &mut P, bytes: &[u8], at: Timestamp, events: &mut Events)
    where
        S: Conversation<P>,
    {
        let flow = self.conversation.receive(protocol, bytes, at, events);
        self.follow(flow, protocol);
    }

    /// Lets the conversation do what is due at `now`. It may close the connection.
    pub(crate) fn on_deadline<P>(&mut self, protocol: &mut P, now: Timestamp, events: &mut Events)
    where
        S: Conversation<P>,
    {
        let flow = self.conversation.on_deadline(protocol, now, events);
        self.follow(flow, protocol);
    }

    #[inline(always)]
    fn follow<P>(&mut self, flow: Flow, protocol: &P)
    where
        S: Conversation<P>,
    {
        if let Flow::Close(_) = flow {
            let _ = self.write(protocol);
            self.phase = Phase::Closed;
        }
    }

    pub(crate) fn mark_closed<P>(&mut self, how: Closed, events: &mut Events)
    where
        S: Conversation<P>,
    {
        self.conversation.close(how, events);
        self.phase = Phase::Closed;
    }

    /// Returns true if the transport allows another request.
    #[inline]
    pub(crate) fn is_reusable(&self) -> bool {
        self.transport.is_open() && !self.transport.has_more_to_send()
    }

    /// Returns true if a stamp of `age` may be that of a segment that had to wait for a lost one. The kernel stamps the
    /// last bytes of a read with their own arrival, not with that of the retransmission that made them readable. The
    /// time of the retransmission would then be missing. Stamps younger than `unchecked` are not checked, so up to that
    /// much may be missing. `remember`: compare the next answer with the current count.
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
