//! One request before the load, so that a mistake is told in a line and not in sixty seconds of refused connections.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};
use socket2::{Socket, Type};
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Nanos;

use crate::endpoint::Endpoint;
use crate::http1::{Fed, Finished, ResponseParser};
use crate::http2::{Blocks, Session};
use crate::requests::{FeedOrder, RequestId, RequestSet, TargetRequests};
use crate::target::Target;
use crate::tls::{HTTP2, Tls, TlsError, TlsFault};

/// Marks the request, so that a server which counts requests can leave it out.
pub const PREFLIGHT_HEADER: &str = "truetail-preflight";

/// What the request met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preflight {
    /// The status of the answer.
    pub status: u16,
    /// From sending to the last byte.
    pub service_time: Nanos,
}

impl Preflight {
    /// What is to be said of a run that was offered in spite of this answer; `None` where nothing is.
    pub fn note(&self) -> Option<String> {
        let status = self.status;
        (status >= 400).then(|| {
            format!("the request before the load was answered with status {status}; the load was offered all the same")
        })
    }
}

/// Why there was no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PreflightError {
    /// No address of the host could be connected to.
    #[error("could not connect to {endpoint}: {}", cause.describe())]
    Connect {
        /// The last one that was tried.
        endpoint: Endpoint,
        /// Why.
        cause: Cause,
    },
    /// No whole answer in time.
    #[error("{endpoint} gave no whole answer within {}", timeout)]
    TimedOut {
        /// Who was asked.
        endpoint: Endpoint,
        /// How long was waited.
        timeout: Nanos,
    },
    /// There can be no TLS with anybody.
    #[error(transparent)]
    NoTls(#[from] TlsError),
    /// TLS did not come about.
    #[error("no TLS with {endpoint}: {fault}")]
    Tls {
        /// Who was asked.
        endpoint: Endpoint,
        /// Why.
        fault: TlsFault,
    },
    /// What came was no answer.
    #[error("{endpoint} did not answer in {protocol}: {}", cause.describe())]
    NoAnswer {
        /// Who was asked.
        endpoint: Endpoint,
        /// `HTTP/1.1` or `HTTP/2`.
        protocol: &'static str,
        /// What was wrong.
        cause: Cause,
    },
}

/// Sends the request of arrival 0, on a connection of its own, to the endpoints of `target` in turn. The one that can be
/// connected to is the one that the run will use.
///
/// # Errors
/// See [`PreflightError`]: after the first endpoint that could be connected to, the others are not tried.
pub fn preflight(target: &mut Target, timeout: Nanos) -> Result<Preflight, PreflightError> {
    let tls = target.tls()?;
    let until = Instant::now() + Duration::from(timeout);
    let mut failed = None;
    for endpoint in target.endpoints().to_vec() {
        match connect(&endpoint, left_until(until)) {
            Ok(socket) => {
                target.prefer(&endpoint);
                let asked = ask(socket, tls.as_ref(), target, until);
                let protocol = if target.uses_http2() { "HTTP/2" } else { "HTTP/1.1" };
                return asked.map_err(|problem| problem.at(endpoint, protocol, timeout));
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                failed = Some(PreflightError::TimedOut { endpoint, timeout })
            }
            Err(error) => {
                let cause = endpoint.connect_cause(&error);
                failed = Some(PreflightError::Connect { endpoint, cause });
            }
        }
    }
    Err(failed.expect("a target has an endpoint"))
}

fn connect(endpoint: &Endpoint, timeout: Duration) -> io::Result<Socket> {
    let socket = Socket::new(endpoint.domain(), Type::STREAM, None)?;
    socket.connect_timeout(&endpoint.address()?, timeout)?;
    Ok(socket)
}

enum Problem {
    TimedOut,
    Tls(TlsFault),
    NoAnswer(Cause),
}

impl Problem {
    fn at(self, endpoint: Endpoint, protocol: &'static str, timeout: Nanos) -> PreflightError {
        match self {
            Problem::TimedOut => PreflightError::TimedOut { endpoint, timeout },
            Problem::Tls(fault) => PreflightError::Tls { endpoint, fault },
            Problem::NoAnswer(cause) => PreflightError::NoAnswer { endpoint, protocol, cause },
        }
    }

    fn from_io(error: &io::Error) -> Problem {
        match TlsFault::inside(error) {
            Some(fault) => Problem::Tls(fault),
            None if is_timeout(error) => Problem::TimedOut,
            None => Problem::NoAnswer(Cause::ResetByPeer),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

/// What is left of the time, never zero, because zero means for ever to a socket.
fn left_until(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// What is asked through.
trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

fn ask(socket: Socket, tls: Option<&Tls>, target: &Target, until: Instant) -> Result<Preflight, Problem> {
    let io = |error: io::Error| Problem::from_io(&error);
    // The same socket under another number, to set its timeouts by.
    let timed = socket.try_clone().map_err(io)?;
    let mut stream: Box<dyn Stream> = match tls {
        None => Box::new(socket),
        Some(tls) => {
            let stream = secured(socket, tls, until)?;
            let agreed = stream.conn.alpn_protocol() == Some(HTTP2);
            if target.uses_http2() && !agreed {
                return Err(Problem::Tls(TlsFault::NoHttp2));
            }
            Box::new(stream)
        }
    };
    let requests = target.requests();
    let first = requests.choose(0);
    let request = marked(requests, first);
    timed.set_write_timeout(Some(left_until(until))).map_err(io)?;
    let started = Instant::now();
    if target.uses_http2() {
        let status = ask_in_http2(&mut stream, &timed, target, &request, until)?;
        return Ok(Preflight { status, service_time: started.elapsed().into() });
    }
    // A server may refuse a body by answering before it has read it all: then the answer is what counts.
    let _ = stream.write_all(&request);
    let finished = read_answer(&mut stream, &timed, requests.is_head_request(first), until)?;
    Ok(Preflight { status: finished.status, service_time: started.elapsed().into() })
}

/// TLS over `socket`, with its handshake done.
fn secured(mut socket: Socket, tls: &Tls, until: Instant) -> Result<StreamOwned<ClientConnection, Socket>, Problem> {
    let io = |error: io::Error| match Problem::from_io(&error) {
        Problem::NoAnswer(_) => Problem::Tls(TlsFault::Ended),
        problem => problem,
    };
    let fault = |error: rustls::Error| Problem::Tls(TlsFault::from(&error));
    let mut connection = tls.connection().map_err(fault)?;
    while connection.is_handshaking() {
        if Instant::now() >= until {
            return Err(Problem::TimedOut);
        }
        socket.set_write_timeout(Some(left_until(until))).map_err(io)?;
        socket.set_read_timeout(Some(left_until(until))).map_err(io)?;
        while connection.wants_write() {
            connection.write_tls(&mut socket).map_err(io)?;
        }
        if connection.read_tls(&mut socket).map_err(io)? == 0 {
            return Err(Problem::Tls(TlsFault::Ended));
        }
        if let Err(error) = connection.process_new_packets() {
            // The server is told why, if it still listens.
            let _ = connection.write_tls(&mut socket);
            return Err(fault(error));
        }
    }
    Ok(StreamOwned::new(connection, socket))
}

/// A request with [`PREFLIGHT_HEADER`] as its last header.
fn marked(requests: &RequestSet, which: RequestId) -> Vec<u8> {
    let request = requests.bytes(which);
    let head_end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(request.len(), |at| at + 2);
    let (head, rest) = request.split_at(head_end);
    [head, format!("{PREFLIGHT_HEADER}: 1\r\n").as_bytes(), rest].concat()
}

/// Asks what `request` asks in HTTP/1.1, and gives the status of the answer.
fn ask_in_http2(
    stream: &mut dyn Stream,
    timed: &Socket,
    target: &Target,
    request: &[u8],
    until: Instant,
) -> Result<u16, Problem> {
    let first = target.first_requests();
    let mut only = TargetRequests::new(first.method().clone(), first.url().to_owned(), 1);
    only.push(request);
    let requests = RequestSet::new(vec![only], 0, FeedOrder::InOrder, 0).expect("there is one");
    // The header that marks it has a place, and the others were looked at when the target was made.
    let blocks = Blocks::new(&requests, &target.origin().scheme).expect("every header has a place");
    let request = blocks.get(requests.choose(0));
    let (mut session, mut ended, mut buffer) = (Session::new(1), Vec::new(), vec![0; 16 * 1024]);
    session.open(0, request);
    loop {
        while !session.to_send().is_empty() {
            // Whoever does not want it all may have answered: then the answer is what counts.
            let _ = stream.write_all(session.to_send());
            session.sent(session.to_send().len());
            session.go_on_with_bodies(|_| request.body);
        }
        if Instant::now() >= until {
            return Err(Problem::TimedOut);
        }
        timed.set_read_timeout(Some(left_until(until))).map_err(|error| Problem::from_io(&error))?;
        let n = match stream.read(&mut buffer) {
            Ok(0) => return Err(Problem::NoAnswer(Cause::ClosedBeforeAnswer)),
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Problem::from_io(&error)),
        };
        let fed = session.feed(&buffer[..n], &mut ended);
        match ended.first().map(|ended| ended.outcome) {
            Some(Outcome::Response { status }) => return Ok(status),
            Some(outcome) => return Err(Problem::NoAnswer(outcome.cause().unwrap_or(Cause::Truncated))),
            None => fed.map_err(|broken| Problem::NoAnswer(broken.cause))?,
        }
    }
}

fn read_answer(
    stream: &mut dyn Stream,
    timed: &Socket,
    is_head_request: bool,
    until: Instant,
) -> Result<Finished, Problem> {
    let mut parser = ResponseParser::new();
    parser.start(is_head_request);
    let mut buffer = [0; 16 * 1024];
    loop {
        if Instant::now() >= until {
            return Err(Problem::TimedOut);
        }
        timed.set_read_timeout(Some(left_until(until))).map_err(|error| Problem::from_io(&error))?;
        let fed = match stream.read(&mut buffer) {
            Ok(0) => return parser.end().map_err(Problem::NoAnswer),
            Ok(n) => parser.feed(&buffer[..n]).map_err(Problem::NoAnswer)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // The connection ended without the goodbye of TLS: nobody knows whether something is missing.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(Problem::NoAnswer(parser.end().err().unwrap_or(Cause::Truncated)));
            }
            Err(error) => return Err(Problem::from_io(&error)),
        };
        if let Fed::Finished(finished) = fed {
            return Ok(finished);
        }
    }
}
