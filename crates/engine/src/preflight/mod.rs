//! One request before the load, so that a mistake shows at once, rather than after a run of refused connections.

mod http2_only;
mod opening;
mod stream;

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome, status_name};
use truetail_model::time::{Nanos, Timestamp};

use crate::connection::ATTEMPT_DELAY;
use crate::placement::Placement;
use crate::protocol::choice::{ProtocolOptions, WithProtocol, with_protocol};
use crate::protocol::http1::{HEAD_LIMIT, refused_line};
use crate::protocol::observer::{AnswerReader, EndedRequest, ObserverFactory};
use crate::protocol::{Beginning, Closed, Conversation, Event, Events, Protocol};
use crate::target::endpoint::Endpoint;
use crate::target::origin::Origin;
use crate::target::request_set::{FeedOrder, RequestId, RequestSet};
use crate::target::target_requests::TargetRequests;
use crate::target::{HttpVersion, Target};
use crate::tls::{TlsError, TlsFault};
use opening::OpenChannel;
use stream::{Problem, Received, Stream, TimedSocket, connect, left_until};

/// The header that marks the preflight request, so that a server that counts requests can leave it out.
pub const PREFLIGHT_HEADER: &str = "truetail-preflight";

/// The answer to the preflight request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preflight {
    /// The status of the answer; `None` without a status, or if nothing was asked.
    pub status: Option<u16>,
    /// Time from sending the request to the last byte of the answer.
    pub service_time: Nanos,
}

impl Preflight {
    /// Returns a note for a run that was offered in spite of this answer; `None` if none is needed.
    pub fn note(&self) -> Option<String> {
        let status = self.status.filter(|status| *status >= 400);
        status.map(|status| {
            format!(
                "the trial request before the load got status {}; the load was sent all the same",
                status_name(status)
            )
        })
    }
}

/// Reason why there was no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PreflightError {
    /// No endpoint could be connected to.
    #[error("cannot connect to {endpoint}: {}", cause.describe())]
    Connect {
        /// The last endpoint that was tried.
        endpoint: Endpoint,
        /// The reason for the failure.
        cause: Cause,
    },
    /// The answer was not complete in time.
    #[error("no complete answer from {endpoint} within {}", timeout)]
    TimedOut {
        /// The endpoint of the request.
        endpoint: Endpoint,
        /// The time limit.
        timeout: Nanos,
    },
    /// TLS could not be set up on this side.
    #[error(transparent)]
    NoTls(#[from] TlsError),
    /// The TLS handshake failed.
    #[error("TLS with {endpoint} failed: {fault}")]
    Tls {
        /// The endpoint of the request.
        endpoint: Endpoint,
        /// The reason for the failure.
        fault: TlsFault,
    },
    /// One of several origins failed.
    #[error("{error}")]
    At {
        /// The origin that failed.
        origin: Origin,
        /// The error at this origin.
        error: Box<PreflightError>,
    },
    /// The endpoint gave no answer in HTTP/1.1, but speaks HTTP/2.
    #[error("{error}. It speaks HTTP/2")]
    InHttp2Only {
        /// The error in HTTP/1.1.
        error: Box<PreflightError>,
    },
    /// The endpoint accepted a connection and did not open a channel on it.
    #[error("{endpoint} did not open a channel: {}{}", cause.describe(), quoted(line.as_deref()))]
    NotOpened {
        /// The endpoint of the request.
        endpoint: Endpoint,
        /// The reason for the failure.
        cause: Cause,
        /// The first line that it said, shortened, if it said anything.
        line: Option<String>,
    },
    /// The connection ended without an answer, or the answer was malformed.
    #[error("{endpoint} did not answer in {version}: {}{}", cause.describe(), quoted(line.as_deref()))]
    NoAnswer {
        /// The endpoint of the request.
        endpoint: Endpoint,
        /// The version that was used.
        version: HttpVersion,
        /// The reason for the failure.
        cause: Cause,
        /// The wrong line of the head, shortened, if there is one.
        line: Option<String>,
    },
}

/// Returns the line after a colon, if there is one.
fn quoted(line: Option<&str>) -> String {
    line.map_or_else(String::new, |line| format!(": {line}"))
}

impl PreflightError {
    /// Returns a description of the request that failed: the first request of `target`, or if there are several
    /// origins, the origin that failed.
    pub fn asked_for(&self, target: &Target) -> String {
        match self {
            PreflightError::At { origin, .. } => origin.to_string(),
            _ => target.first_requests().to_string(),
        }
    }

    /// Returns the error without the origin that it is about.
    pub fn innermost(&self) -> &PreflightError {
        if let PreflightError::At { error, .. } = self { error.innermost() } else { self }
    }

    /// Adds the origin to the error if `target` has several.
    fn with_origin(self, target: &Target, nth: usize) -> PreflightError {
        match target.origins().nth(nth).filter(|_| target.origins().len() > 1) {
            Some(origin) => PreflightError::At { origin: origin.clone(), error: Box::new(self) },
            None => self,
        }
    }
}

/// Sends the request of arrival 0 on a separate connection. Tries the endpoints of `target` in turn and uses the first
/// that can be connected to, which the run will also use. To other origins it only connects, and so it does if requests
/// are messages.
///
/// # Errors
/// See [`PreflightError`].
pub fn preflight(target: &mut Target, timeout: Nanos) -> Result<Preflight, PreflightError> {
    observed_preflight(target, timeout, None)
}

/// Does the work of [`preflight`], and lets `observer` see the answer.
///
/// # Errors
/// See [`PreflightError`].
pub fn preflight_observed(
    target: &mut Target,
    timeout: Nanos,
    observer: &ObserverFactory,
) -> Result<Preflight, PreflightError> {
    observed_preflight(target, timeout, Some(observer.observer()))
}

/// Does the work of [`preflight`] with an observer of the answer.
pub(crate) fn observed_preflight(
    target: &mut Target,
    timeout: Nanos,
    observer: Option<Box<dyn AnswerReader>>,
) -> Result<Preflight, PreflightError> {
    if target.protocol().http_version().is_none() {
        let began = Instant::now();
        return try_connection(target, timeout)
            .map(|()| Preflight { status: None, service_time: began.elapsed().into() });
    }
    let first = target.first_requests().origin() as usize;
    let count = target.destinations().len();
    for other in (0..count).filter(|nth| *nth != first) {
        on_connection(target, other, timeout, |_, _| Ok(())).map_err(|error| error.with_origin(target, other))?;
    }
    on_connection(target, first, timeout, |stream, target| ask(stream, target, observer))
        .map_err(|error| error.with_origin(target, first))
}

/// Opens a connection to each origin, including TLS and the opening of a channel, and sends no request. Used if answers
/// may never end.
pub(crate) fn try_connection(target: &mut Target, timeout: Nanos) -> Result<(), PreflightError> {
    let mut all = 0..target.destinations().len();
    all.try_for_each(|nth| {
        let open =
            |stream, target: &Target| with_protocol(&trial(target, target.requests(), false), OpenChannel(stream));
        on_connection(target, nth, timeout, open).map_err(|error| error.with_origin(target, nth))
    })
}

/// Does `work` on a connection to the first endpoint of an origin of `target` that can be connected to.
fn on_connection<T>(
    target: &mut Target,
    nth: usize,
    timeout: Nanos,
    work: impl FnOnce(Stream, &Target) -> Result<T, Problem>,
) -> Result<T, PreflightError> {
    let version = target.protocol().version_below();
    let destination = target.destination_mut(nth);
    let tls = destination.tls(version)?;
    let until = Instant::now() + Duration::from(timeout);
    let mut failed = None;
    let all = destination.endpoints().to_vec();
    // A silent endpoint must not take the others' time. They are tried next, and then all get more time.
    let mut attempts: VecDeque<_> = all.iter().map(|endpoint| (endpoint.clone(), all.len() > 1)).collect();
    while let Some((endpoint, is_short)) = attempts.pop_front() {
        let left = left_until(until);
        let time = if is_short { left.min(ATTEMPT_DELAY.into()) } else { left / (attempts.len() as u32 + 1) };
        match connect(&endpoint, time) {
            Ok(socket) => {
                destination.prefer(&endpoint);
                let socket = TimedSocket::new(socket, until);
                let done = Stream::open(socket, tls.as_ref(), version).and_then(|stream| work(stream, target));
                return done.map_err(|problem| {
                    let is_http2_only = version == Some(HttpVersion::Http1)
                        && problem.may_be_of_http2()
                        && http2_only::speaks_http2(&target.destinations()[nth], &endpoint, timeout);
                    match (is_http2_only, error_at(problem, endpoint, version, timeout)) {
                        (true, error) => PreflightError::InHttp2Only { error: Box::new(error) },
                        (false, error) => error,
                    }
                });
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                if is_short {
                    attempts.push_back((endpoint.clone(), false));
                }
                failed = Some(PreflightError::TimedOut { endpoint, timeout });
            }
            Err(error) => {
                let cause = endpoint.connect_cause(&error);
                failed = Some(PreflightError::Connect { endpoint, cause });
            }
        }
    }
    Err(failed.expect("an origin has an endpoint"))
}

fn error_at(problem: Problem, endpoint: Endpoint, version: Option<HttpVersion>, timeout: Nanos) -> PreflightError {
    match problem {
        Problem::TimedOut => PreflightError::TimedOut { endpoint, timeout },
        // The alert names no version: the server refused the offered one.
        Problem::Tls(TlsFault::NoHttp2) if version == Some(HttpVersion::Http1) => {
            PreflightError::Tls { endpoint, fault: TlsFault::NoHttp1 }
        }
        Problem::Tls(fault) => PreflightError::Tls { endpoint, fault },
        Problem::NoAnswer(cause, line) => match version {
            Some(version) => PreflightError::NoAnswer { endpoint, version, cause, line },
            None => PreflightError::NotOpened { endpoint, cause, line },
        },
    }
}

fn ask(stream: Stream, target: &Target, observer: Option<Box<dyn AnswerReader>>) -> Result<Preflight, Problem> {
    let requests = target.requests();
    let first = target.first_requests();
    let mut only = TargetRequests::new(first.method().clone(), first.url().to_owned(), 1);
    let mut request = requests.view(requests.choose(0)).to_parts();
    request.insert_field(PREFLIGHT_HEADER, "1");
    only.push(&request);
    let requests = RequestSet::new(vec![only], 0, FeedOrder::InOrder, 0).expect("one request");
    let started = Instant::now();
    let protocol = target.protocol().at_once();
    let options = ProtocolOptions { protocol: &protocol, ..trial(target, &requests, observer.is_some()) };
    let status = with_protocol(&options, FirstExchange { stream, observer })?;
    Ok(Preflight { status, service_time: started.elapsed().into() })
}

/// Returns the protocol of a trial of `target`.
fn trial<'a>(target: &'a Target, requests: &'a RequestSet, keeps_fields: bool) -> ProtocolOptions<'a> {
    ProtocolOptions {
        protocol: target.protocol(),
        origin: target.origin(),
        requests,
        keep_alive: false,
        max_streams: None,
        keeps_fields,
        is_made_in_run: false,
        measured_from: Timestamp::ZERO,
        has_connection_per_session: false,
    }
}

struct FirstExchange {
    stream: Stream,
    observer: Option<Box<dyn AnswerReader>>,
}

/// Sends the only request at once and returns the status of its answer, if it has one. Deadlines of the conversation
/// are not kept, because the timeout of the preflight ends it.
impl WithProtocol for FirstExchange {
    type Output = Result<Option<u16>, Problem>;

    fn with<P: Protocol, L: Placement<P>>(self, mut protocol: P) -> Result<Option<u16>, Problem> {
        let mut stream = self.stream;
        let mut conversation = protocol.conversation();
        let mut events = Events::new(self.observer);
        let id = RequestId { target: 0, row: 0 };
        let began = Instant::now();
        let now = || Timestamp::ZERO + began.elapsed().into();
        let arrival = Arrival { index: 0, intended_start: Timestamp::ZERO };
        conversation.begin(&protocol, Beginning { tag: 0, request: id, arrival, now: now() }, &mut events);
        let mut buffer = [0; 16 * 1024];
        let mut begin = Vec::new();
        loop {
            stream.send_all(&mut conversation, &protocol, now(), &mut events);
            // A message without a reply ends when it is sent.
            if !events.has_end() {
                match stream.receive(&mut buffer)? {
                    // A violation of the protocol shows in the events.
                    Received::Bytes(count) => {
                        begin.extend_from_slice(&buffer[..count.min(HEAD_LIMIT.saturating_sub(begin.len()))]);
                        let _ = conversation.receive(&mut protocol, &buffer[..count], now(), &mut events);
                    }
                    Received::End => conversation.close(Closed::EndOfStream { authentic: true }, &mut events),
                    Received::CutOff => conversation.close(Closed::EndOfStream { authentic: false }, &mut events),
                }
            }
            for event in events.take() {
                let Event::Ended(ended) = event else { continue };
                let outcome = ended.outcome;
                let zero = Timestamp::ZERO;
                events.observe_end(0, EndedRequest { arrival, id, outcome, start: zero, end: zero });
                events.finish_observing(zero);
                return match ended.outcome {
                    Outcome::Response { .. } => Ok(outcome.status()),
                    outcome => {
                        let cause = outcome.cause().unwrap_or(Cause::ClosedBeforeAnswer);
                        let line = (cause == Cause::BadHead && !protocol.carries_several())
                            .then(|| refused_line(&begin))
                            .flatten();
                        Err(Problem::NoAnswer(cause, line))
                    }
                };
            }
        }
    }
}
