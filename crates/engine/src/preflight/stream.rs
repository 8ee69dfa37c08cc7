//! A connection for one request, with or without TLS, for a limited time.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustls::StreamOwned;
use socket2::{Socket, Type};
use truetail_model::record::Cause;
use truetail_model::time::Timestamp;

use crate::protocol::{Conversation, Events, Protocol};
use crate::target::HttpVersion;
use crate::target::endpoint::Endpoint;
use crate::tls::{HTTP2, Tls, TlsFault};

/// Connects to `endpoint` within `timeout`, which must be above zero.
pub(super) fn connect(endpoint: &Endpoint, timeout: Duration) -> io::Result<Socket> {
    let socket = Socket::new(endpoint.domain(), Type::STREAM, None)?;
    socket.connect_timeout(&endpoint.address()?, timeout)?;
    Ok(socket)
}

/// Reason why an endpoint that accepted a connection gave no answer.
pub(super) enum Problem {
    TimedOut,
    Tls(TlsFault),
    /// Holds the wrong line of the head, if there is one.
    NoAnswer(Cause, Option<String>),
}

impl Problem {
    /// Returns true if a server that speaks only HTTP/2 may cause this problem for an HTTP/1.1 client.
    pub(super) fn may_be_of_http2(&self) -> bool {
        matches!(self, Problem::NoAnswer(..) | Problem::Tls(TlsFault::NoHttp2 | TlsFault::Ended))
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        match TlsFault::inside(&error) {
            Some(fault) => Problem::Tls(fault),
            None if error.kind() == io::ErrorKind::TimedOut => Problem::TimedOut,
            None => Problem::NoAnswer(Cause::ResetByPeer, None),
        }
    }
}

/// Returns the remaining time, at least 1 ms, because a timeout of zero means none to a socket.
pub(super) fn left_until(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// A socket that can be read and written until an instant, and then fails with `TimedOut`.
pub(super) struct TimedSocket {
    socket: Socket,
    until: Rc<Cell<Instant>>,
}

impl TimedSocket {
    pub(super) fn new(socket: Socket, until: Instant) -> TimedSocket {
        TimedSocket { socket, until: Rc::new(Cell::new(until)) }
    }

    fn timeout(&self) -> io::Result<Option<Duration>> {
        let until = self.until.get();
        let is_over = Instant::now() >= until;
        if is_over { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left_until(until))) }
    }
}

impl Read for TimedSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.timeout()?)?;
        self.socket.read(buffer).map_err(timed_out)
    }
}

impl Write for TimedSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.timeout()?)?;
        self.socket.write(bytes).map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Converts `WouldBlock`, which a blocking socket returns after its timeout, to `TimedOut`.
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { error }
}

pub(super) trait ReadWrite: Read + Write {}

impl<S: Read + Write> ReadWrite for S {}

pub(super) struct Stream {
    bytes: Box<dyn ReadWrite>,
    /// The end of its time.
    until: Rc<Cell<Instant>>,
}

pub(super) enum Received {
    Bytes(usize),
    End,
    /// The end of the connection without TLS's close notification, so bytes may be missing.
    CutOff,
}

impl Stream {
    /// Does the TLS handshake over `socket`, if the target uses TLS.
    pub(super) fn open(
        mut socket: TimedSocket,
        tls: Option<&Tls>,
        version: Option<HttpVersion>,
    ) -> Result<Stream, Problem> {
        let until = Rc::clone(&socket.until);
        let Some(tls) = tls else { return Ok(Stream { bytes: Box::new(socket), until }) };
        let mut connection = tls.connection().map_err(|error| Problem::Tls(TlsFault::from(&error)))?;
        connection.complete_io(&mut socket).map_err(|error| match Problem::from(error) {
            Problem::NoAnswer(..) => Problem::Tls(TlsFault::Ended),
            problem @ (Problem::TimedOut | Problem::Tls(_)) => problem,
        })?;
        if version == Some(HttpVersion::Http2) && connection.alpn_protocol() != Some(HTTP2) {
            return Err(Problem::Tls(TlsFault::NoHttp2));
        }
        Ok(Stream { bytes: Box::new(StreamOwned::new(connection, socket)), until })
    }

    /// Sends `bytes` and ignores errors. A server may answer and close before it has read the whole request.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        let _ = self.bytes.write_all(bytes);
    }

    pub(super) fn send_all<P: Protocol>(
        &mut self,
        conversation: &mut P::Conversation,
        protocol: &P,
        now: Timestamp,
        events: &mut Events,
    ) {
        loop {
            let output = conversation.output(protocol);
            let count = output.len();
            self.send(output);
            conversation.sent(protocol, count, now, events);
            if conversation.output(protocol).is_empty() {
                return;
            }
        }
    }

    /// Receives until an instant, if one is given. Returns `None` if nothing arrived by then.
    pub(super) fn receive_until(
        &mut self,
        until: Option<Instant>,
        buffer: &mut [u8],
    ) -> Result<Option<Received>, Problem> {
        let all = self.until.get();
        let Some(until) = until.filter(|until| *until < all) else { return self.receive(buffer).map(Some) };
        self.until.set(until);
        let received = self.receive(buffer);
        self.until.set(all);
        match received {
            Err(Problem::TimedOut) => Ok(None),
            received => received.map(Some),
        }
    }

    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Result<Received, Problem> {
        loop {
            return match self.bytes.read(buffer) {
                Ok(0) => Ok(Received::End),
                Ok(n) => Ok(Received::Bytes(n)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Received::CutOff),
                Err(error) => Err(error.into()),
            };
        }
    }
}
