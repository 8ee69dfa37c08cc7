//! Choice of the protocol of a run.

use std::sync::Arc;

use truetail_model::time::Timestamp;

use super::Protocol;
use super::http1::{Http1, RequestSource, Traced};
use super::http2::{FieldBlocks, FieldSource, FieldsMadeInRun, Http2};
use super::made_in_run::MadeInRun;
use super::messages::Messages;
use crate::placement::{OneEach, PerSession, Placement, SharedOut};
use crate::target::origin::Origin;
use crate::target::request_set::RequestSet;
use crate::target::{HttpVersion, WireProtocol};

/// Properties of a run that a protocol needs.
pub(crate) struct ProtocolOptions<'a> {
    pub(crate) protocol: &'a WireProtocol,
    pub(crate) origin: &'a Origin,
    pub(crate) requests: &'a RequestSet,
    /// In HTTP/1.1, reuse connections if the server allows it.
    pub(crate) keep_alive: bool,
    /// In HTTP/2, most requests at once on one connection.
    pub(crate) max_streams: Option<u32>,
    /// Keep header fields as text for an observer, if the protocol does not have them at hand anyway.
    pub(crate) keeps_fields: bool,
    /// Requests are made during the run: by a script of sessions, or for each arrival.
    pub(crate) is_made_in_run: bool,
    /// Arrivals intended before this are warm-up.
    pub(crate) measured_from: Timestamp,
    /// Each session has connections of its own.
    pub(crate) has_connection_per_session: bool,
}

/// Code that works with any protocol and placement.
pub(crate) trait WithProtocol {
    type Output;

    fn with<P: Protocol + Clone + Send + 'static, L: Placement<P>>(self, protocol: P) -> Self::Output;
}

/// Makes the protocol of a run, chooses the placement, and runs `then` with both.
pub(crate) fn with_protocol<W: WithProtocol>(options: &ProtocolOptions<'_>, then: W) -> W::Output {
    let requests = options.requests;
    let version = match options.protocol {
        WireProtocol::Http(version) => *version,
        WireProtocol::Calls(_) => HttpVersion::Http2,
        WireProtocol::Messages(messages) => {
            let messages = Messages::new(requests, messages.clone(), options.measured_from);
            let messages = if options.is_made_in_run { messages.made_in_run() } else { messages };
            return placed::<_, SharedOut, _>(options, messages, then);
        }
    };
    match version {
        HttpVersion::Http1 => over_http1(options, then),
        HttpVersion::Http2 if options.is_made_in_run => {
            let fields = FieldsMadeInRun::new(requests, &options.origin.scheme);
            placed::<_, SharedOut, _>(options, http2(options, fields), then)
        }
        HttpVersion::Http2 => {
            let blocks = Arc::new(FieldBlocks::new(requests, &options.origin.scheme));
            placed::<_, SharedOut, _>(options, http2(options, blocks), then)
        }
    }
}

fn over_http1<W: WithProtocol>(options: &ProtocolOptions<'_>, then: W) -> W::Output {
    fn made<S: RequestSource, W: WithProtocol>(requests: S, options: &ProtocolOptions<'_>, then: W) -> W::Output {
        placed::<_, OneEach, _>(options, Http1::new(requests, options.keep_alive), then)
    }
    let requests = options.requests;
    match (options.is_made_in_run, requests.trace_ids()) {
        (true, None) => made(MadeInRun::default(), options, then),
        (true, Some(ids)) => made(Traced::made_in_run(ids), options, then),
        (false, None) => made(requests.clone(), options, then),
        (false, Some(ids)) => made(Traced::prepared(requests.clone(), ids), options, then),
    }
}

fn http2<F: FieldSource>(options: &ProtocolOptions<'_>, source: F) -> Http2<F> {
    Http2::new(source, options.max_streams, options.keeps_fields)
        .for_calls(options.protocol.calls())
        .traced(options.requests.trace_ids())
}

/// Runs `then` with the placement `L`, unless each session has connections of its own.
fn placed<P: Protocol + Clone + Send + 'static, L: Placement<P>, W: WithProtocol>(
    options: &ProtocolOptions<'_>,
    protocol: P,
    then: W,
) -> W::Output {
    match options.has_connection_per_session {
        true => then.with::<P, PerSession>(protocol),
        false => then.with::<P, L>(protocol),
    }
}
