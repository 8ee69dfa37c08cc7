//! One request before the load, so that a mistake is told in a line and not in sixty seconds of refused connections.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use truetail_model::record::Cause;
use truetail_model::time::Nanos;

use crate::connection::connect_cause;
use crate::http1::{Fed, Finished, ResponseParser};
use crate::target::{Method, Target};

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
    #[error("could not connect to {address}: {}", cause.describe())]
    Connect {
        /// The last one that was tried.
        address: SocketAddr,
        /// Why.
        cause: Cause,
    },
    /// No whole answer in time.
    #[error("{address} gave no whole answer within {}", timeout)]
    TimedOut {
        /// Who was asked.
        address: SocketAddr,
        /// How long was waited.
        timeout: Nanos,
    },
    /// What came was no answer.
    #[error("{address} did not answer in HTTP/1.1: {}", cause.describe())]
    NoAnswer {
        /// Who was asked.
        address: SocketAddr,
        /// What was wrong.
        cause: Cause,
    },
}

/// Sends one request, on a connection of its own, to the addresses of `target` in turn. The address that can be
/// connected to is the one that the run will use.
///
/// # Errors
/// See [`PreflightError`]: after the first address that could be connected to, the others are not tried.
pub fn preflight(target: &mut Target, timeout: Nanos) -> Result<Preflight, PreflightError> {
    let until = Instant::now() + Duration::from(timeout);
    let mut failed = None;
    for address in target.addresses().to_vec() {
        match TcpStream::connect_timeout(&address, left_until(until)) {
            Ok(stream) => {
                target.prefer(address);
                return ask(stream, target, until).map_err(|problem| problem.at(address, timeout));
            }
            Err(error) if is_timeout(&error) => failed = Some(PreflightError::TimedOut { address, timeout }),
            Err(error) => failed = Some(PreflightError::Connect { address, cause: connect_cause(&error) }),
        }
    }
    Err(failed.expect("a target has an address"))
}

enum Problem {
    TimedOut,
    NoAnswer(Cause),
}

impl Problem {
    fn at(self, address: SocketAddr, timeout: Nanos) -> PreflightError {
        match self {
            Problem::TimedOut => PreflightError::TimedOut { address, timeout },
            Problem::NoAnswer(cause) => PreflightError::NoAnswer { address, cause },
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

fn ask(mut stream: TcpStream, target: &Target, until: Instant) -> Result<Preflight, Problem> {
    let io = |error: io::Error| Problem::from_io(&error);
    let request = target.http1_request(&[(PREFLIGHT_HEADER, "1")]);
    stream.set_write_timeout(Some(left_until(until))).map_err(io)?;
    let started = Instant::now();
    // A server may refuse a body by answering before it has read it all: then the answer is what counts.
    let _ = stream.write_all(&request);
    let finished = read_answer(&mut stream, *target.method() == Method::Head, until)?;
    Ok(Preflight { status: finished.status, service_time: started.elapsed().into() })
}

fn read_answer(stream: &mut TcpStream, to_head: bool, until: Instant) -> Result<Finished, Problem> {
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
