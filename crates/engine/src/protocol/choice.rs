//! Which protocol a run speaks.

use std::sync::Arc;

use super::Protocol;
use super::http1::Http1;
use super::http2::{FieldBlocks, FieldsMadeInRun, Http2};
use super::made_in_run::MadeInRun;
use crate::target::HttpVersion;
use crate::target::origin::Origin;
use crate::target::request_set::RequestSet;

/// What a protocol needs to know of a run.
pub(crate) struct ProtocolOptions<'a> {
    pub(crate) version: HttpVersion,
    pub(crate) origin: &'a Origin,
    pub(crate) requests: &'a RequestSet,
    /// In HTTP/1.1, a connection is used again where the server allows it.
    pub(crate) keep_alive: bool,
    /// In HTTP/2, most requests at once on one connection.
    pub(crate) max_streams: Option<u32>,
    /// Header fields are to be kept as text for an observer, where the protocol does not have them at hand anyway.
    pub(crate) keeps_fields: bool,
    /// Requests are made while the run goes on.
    pub(crate) is_scripted: bool,
}

/// What is done with the protocol, whichever it is.
pub(crate) trait WithProtocol {
    type Output;

    /// Does it.
    fn with<P: Protocol + Clone + Send + 'static>(self, protocol: P) -> Self::Output;
}

/// Makes the protocol of a run and does something with it.
pub(crate) fn with_protocol<W: WithProtocol>(options: &ProtocolOptions<'_>, then: W) -> W::Output {
    let requests = options.requests;
    match options.version {
        HttpVersion::Http1 if options.is_scripted => then.with(Http1::new(MadeInRun::default(), options.keep_alive)),
        HttpVersion::Http1 => then.with(Http1::new(requests.clone(), options.keep_alive)),
        HttpVersion::Http2 if options.is_scripted => {
            let fields = FieldsMadeInRun::new(requests, &options.origin.scheme);
            then.with(Http2::new(fields, options.max_streams, options.keeps_fields))
        }
        HttpVersion::Http2 => {
            let blocks = Arc::new(FieldBlocks::new(requests, &options.origin.scheme));
            then.with(Http2::new(blocks, options.max_streams, options.keeps_fields))
        }
    }
}
