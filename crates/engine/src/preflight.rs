//! One request before the load, so that a mistake is told in a line and not in sixty seconds of refused connections.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use socket2::{Socket, Type};
use truetail_model::record::Cause;
use truetail_model::time::Nanos;

use crate::endpoint::Endpoint;
use crate::http1::{Fed, Finished, ResponseParser};
use crate::requests::{Requests, Which};
use crate::target::Target;

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
    /// What came was no answer.
    #[error("{endpoint} did not answer in HTTP/1.1: {}", cause.describe())]
    NoAnswer {
        /// Who was asked.
        endpoint: Endpoint,
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
    let until = Instant::now() + Duration::from(timeout);
    let mut failed = None;
    for endpoint in target.endpoints().to_vec() {
        match connect(&endpoint, left_until(until)) {
            Ok(socket) => {
                target.prefer(&endpoint);
                return ask(socket, target.requests(), until).map_err(|problem| problem.at(endpoint, timeout));
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
    NoAnswer(Cause),
}

impl Problem {
    fn at(self, endpoint: Endpoint, timeout: Nanos) -> PreflightError {
        match self {
            Problem::TimedOut => PreflightError::TimedOut { endpoint, timeout },
            Problem::NoAnswer(cause) => PreflightError::NoAnswer { endpoint, cause },
        }
    }

    fn from_io(error: &io::Error) -> Problem {
        if is_timeout(error) { Problem::TimedOut } else { Problem::NoAnswer(Cause::ResetByPeer) }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

/// What is left of the time, never zero, because zero means for ever to a socket.
fn left_until(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

fn ask(mut socket: Socket, requests: &Requests, until: Instant) -> Result<Preflight, Problem> {
    let io = |error: io::Error| Problem::from_io(&error);
    let first = requests.which(0);
    let request = marked(requests, first);
    socket.set_write_timeout(Some(left_until(until))).map_err(io)?;
    let started = Instant::now();
    // A server may refuse a body by answering before it has read it all: then the answer is what counts.
    let _ = socket.write_all(&request);
    let finished = read_answer(&mut socket, requests.to_head(first), until)?;
    Ok(Preflight { status: finished.status, service_time: started.elapsed().into() })
}

/// A request with [`PREFLIGHT_HEADER`] as its last header.
fn marked(requests: &Requests, which: Which) -> Vec<u8> {
    let request = requests.bytes(which);
    let head_end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(request.len(), |at| at + 2);
    let (head, rest) = request.split_at(head_end);
    [head, format!("{PREFLIGHT_HEADER}: 1\r\n").as_bytes(), rest].concat()
}

fn read_answer(stream: &mut Socket, to_head: bool, until: Instant) -> Result<Finished, Problem> {
    let mut parser = ResponseParser::new();
    parser.start(to_head);
    let mut buffer = [0; 16 * 1024];
    loop {
        if Instant::now() >= until {
            return Err(Problem::TimedOut);
        }
        stream.set_read_timeout(Some(left_until(until))).map_err(|error| Problem::from_io(&error))?;
        let fed = match stream.read(&mut buffer) {
            Ok(0) => return parser.end().map_err(Problem::NoAnswer),
            Ok(n) => parser.feed(&buffer[..n]).map_err(Problem::NoAnswer)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Problem::from_io(&error)),
        };
        if let Fed::Finished(finished) = fed {
            return Ok(finished);
        }
    }
}
