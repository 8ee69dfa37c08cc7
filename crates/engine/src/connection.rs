//! One connection: a socket, and the request that is under way on it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

use socket2::{Protocol, Socket, Type};
use truetail_model::arrival::Arrival;
use truetail_model::record::Cause;
use truetail_model::time::{Nanos, Timestamp};

use crate::http1::ResponseParser;
use crate::stamps::{self, WallTime};
use crate::target::endpoint::{Endpoint, connect_cause};
use crate::target::request_set::RequestId;
use crate::tls::{Tls, TlsSession};
use crate::transport::{Broken, Content, Transport};

/// Local ports that are tried for one connection before it is given up.
const PORTS_TRIED: u32 = 64;

/// What a connection is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// TCP is being set up for the request that waits on it.
    Connecting,
    /// TCP is there, and TLS is being set up for that request.
    Securing,
    /// A request is being written or answered.
    Busy,
    /// Ready for the next request.
    Idle,
}

/// The request that is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) arrival: Arrival,
    /// The request that this arrival gets.
    pub(crate) which: RequestId,
    pub(crate) user: u32,
    pub(crate) connection_wait: Nanos,
    /// When the attempt began: to connect, or on an open connection to send.
    pub(crate) began: Timestamp,
    /// How long the worker had not been running by then, and once the request is sent, by its actual start: all its
    /// pauses together.
    pub(crate) paused_by_then: Nanos,
    /// How long connecting took; `None` on a connection that was open.
    pub(crate) connect: Option<Nanos>,
    /// How much of that the TLS handshake took; `None` without one.
    pub(crate) handshake: Option<Nanos>,
    /// Just before the first byte was handed to the socket; `began` until then.
    pub(crate) actual_start: Timestamp,
    /// Bytes of the request that the socket has taken, or TLS has sealed.
    pub(crate) written: usize,
}

/// A socket and what is under way on it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: Socket,
    pub(crate) phase: Phase,
    pub(crate) exchange: Exchange,
    pub(crate) parser: ResponseParser,
    /// More lies here than was read in one turn, and the worker knows it.
    pub(crate) unread: bool,
    pub(crate) transport: Transport,
    /// Segments that had come before one that should have been first, when that was last asked; `None`: nobody says.
    out_of_order: Option<u32>,
}

impl Connection {
    /// Begins to connect to `endpoint`, from the first of the ports that `pick` gives which is free, or, when it gives
    /// none, from one of the system's choice.
    ///
    /// # Errors
    /// Why no attempt can be made.
    pub(crate) fn open(
        endpoint: &Endpoint,
        exchange: Exchange,
        mut pick: impl FnMut() -> Option<u16>,
    ) -> Result<Connection, Cause> {
        let socket = match endpoint {
            Endpoint::Tcp(address) => from_a_free_port(&mut pick, |port| begin_tcp(*address, port)),
            Endpoint::Unix(_) => begin_unix(endpoint),
        };
        let socket = socket.map_err(|error| endpoint.connect_cause(&error))?;
        Ok(Connection {
            socket,
            phase: Phase::Connecting,
            exchange,
            parser: ResponseParser::new(),
            unread: false,
            transport: Transport::Plain,
            out_of_order: Some(0),
        })
    }

    /// What came of connecting, once the socket is writable. `None`: it is still going on.
    pub(crate) fn connected(&self) -> Option<Result<(), Cause>> {
        match self.socket.take_error() {
            Ok(Some(error)) | Err(error) => Some(Err(connect_cause(&error))),
            Ok(None) => match self.socket.peer_addr() {
                Ok(_) => Some(Ok(())),
                Err(error) if error.kind() == io::ErrorKind::NotConnected => None,
                Err(error) => Some(Err(connect_cause(&error))),
            },
        }
    }

    /// Hands what is left of `request` to the socket, as much as it takes.
    ///
    /// Always inlined, as is what reads and sends without TLS: after a call of the system a processor has forgotten, as a rule,
    /// where functions return to, and each return on the way out is guessed wrong.
    #[inline(always)]
    pub(crate) fn write(&mut self, request: &[u8]) -> io::Result<()> {
        if let Transport::Tls(session) = &mut self.transport {
            return session.write(&self.socket, request, &mut self.exchange.written);
        }
        while self.exchange.written < request.len() {
            match send(&self.socket, &request[self.exchange.written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => self.exchange.written += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The socket has taken all `length` bytes of the request.
    pub(crate) fn has_sent(&self, length: usize) -> bool {
        self.exchange.written == length && !self.transport.has_more_to_send()
    }

    /// Begins to set up TLS at `now`, on a connection that is there.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub(crate) fn begin_securing(&mut self, tls: &Tls, now: Timestamp, paused: Nanos) -> Result<(), Cause> {
        let session = TlsSession::new(tls, now, paused).map_err(|_| Cause::Tls)?;
        self.transport = Transport::Tls(Box::new(session));
        self.phase = Phase::Securing;
        Ok(())
    }

    /// Goes on with the TLS handshake for as long as there is something to read. `None`: it is still going on. What the
    /// other side said already is in `opened` when it is over.
    pub(crate) fn secure(&mut self, buffer: &mut [u8], opened: &mut Vec<u8>) -> Option<Result<(), Cause>> {
        opened.clear();
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
            if self.transport.open(&self.socket, &buffer[..n], opened).is_err() {
                return Some(Err(Cause::Tls));
            }
        }
    }

    /// Where the bytes for the parser are, of those that were just read; and what is wrong behind them, where TLS cannot
    /// read on.
    pub(crate) fn open_up(&mut self, read: &[u8], opened: &mut Vec<u8>) -> (Content, Option<Broken>) {
        if matches!(self.transport, Transport::Plain) {
            return (Content::AsRead, None);
        }
        opened.clear();
        (Content::Opened, self.transport.open(&self.socket, read, opened).err())
    }

    /// Reads once, and says when the last of it arrived, where the kernel was asked and says so. `None`: there is
    /// nothing to read now.
    #[inline(always)]
    pub(crate) fn read(&mut self, buffer: &mut [u8], stamped: bool) -> io::Result<Option<(usize, Option<WallTime>)>> {
        loop {
            let read = match stamped {
                true => stamps::receive(self.socket.as_fd(), buffer),
                false => receive(&self.socket, buffer).map(|n| (n, None)),
            };
            match read {
                Ok(read) => return Ok(Some(read)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether a stamp of `age` may be that of a segment which had to wait for one that was lost. The kernel stamps what
    /// it reads last with its own arrival, and not with that of the segment which made it readable, so that the time of
    /// a retransmission would be missing. Stamps younger than `unasked` are not asked about: so much may be missing.
    pub(crate) fn overtaken(&mut self, age: Nanos, unasked: Nanos) -> bool {
        if age < unasked {
            return false;
        }
        let seen = stamps::out_of_order(self.socket.as_fd());
        let before = std::mem::replace(&mut self.out_of_order, seen);
        seen.is_none() || seen != before
    }
}

/// Without a detour through libc, which makes ready to be cancelled around each call.
#[cfg(target_os = "linux")]
#[inline(always)]
fn send(socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, bytes, rustix::net::SendFlags::NOSIGNAL)?)
}

#[cfg(not(target_os = "linux"))]
fn send(mut socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
    io::Write::write(&mut socket, bytes)
}

#[inline(always)]
fn receive(socket: &Socket, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::net::recv(socket, buffer, rustix::net::RecvFlags::empty())?.0)
}

/// Attempts with the ports that `pick` gives, until one is free or enough were tried. Where the system chooses it has
/// looked through all of them by itself, which takes milliseconds when there is none: it is asked once.
fn from_a_free_port<T>(
    mut pick: impl FnMut() -> Option<u16>,
    mut attempt: impl FnMut(Option<u16>) -> io::Result<T>,
) -> io::Result<T> {
    for _ in 0..PORTS_TRIED {
        let port = pick();
        match attempt(port) {
            Err(error) if port.is_some() && connect_cause(&error) == Cause::NoLocalPort => {}
            done => return done,
        }
    }
    attempt(pick())
}

fn begin_tcp(address: SocketAddr, from_port: Option<u16>) -> io::Result<Socket> {
    let socket = Socket::new(socket2::Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    if let Some(port) = from_port {
        let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        // A port that is in use towards another destination, or that still lingers, may be used for this one.
        socket.set_reuse_address(true)?;
        socket.bind(&SocketAddr::new(any, port).into())?;
    }
    match socket.connect(&address.into()) {
        Ok(()) => Ok(socket),
        Err(error) if in_progress(&error) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// A socket in the file system is connected at once or not at all.
fn begin_unix(endpoint: &Endpoint) -> io::Result<Socket> {
    let socket = Socket::new(endpoint.domain(), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.connect(&endpoint.address()?)?;
    Ok(socket)
}

fn in_progress(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken() -> io::Error {
        rustix::io::Errno::ADDRINUSE.into()
    }

    #[test]
    fn ports_of_ones_own_are_tried_one_after_the_other_and_the_system_is_asked_once() {
        let mut ports = 1000..;
        let found = from_a_free_port(|| ports.next(), |port| if port == Some(1007) { Ok(port) } else { Err(taken()) });
        assert_eq!(found.unwrap(), Some(1007));
        for (ports, attempts) in [(Some(1000), PORTS_TRIED + 1), (None, 1)] {
            let mut tried = 0;
            let none = from_a_free_port::<()>(
                || ports,
                |_| {
                    tried += 1;
                    Err(taken())
                },
            );
            assert_eq!((connect_cause(&none.unwrap_err()), tried), (Cause::NoLocalPort, attempts), "{ports:?}");
        }
    }
}
