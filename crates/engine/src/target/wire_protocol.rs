//! The protocol of a run.

use std::fmt;

use truetail_run::GrpcConfig;

use crate::protocol::messages::MessageOptions;

/// The protocol of the requests of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WireProtocol {
    /// Requests over HTTP.
    Http(HttpVersion),
    /// gRPC calls over HTTP/2.
    Calls(GrpcConfig),
    /// Messages on channels.
    Messages(MessageOptions),
}

/// The version of HTTP that a run uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HttpVersion {
    /// HTTP/1.1: one request at a time on a connection.
    Http1,
    /// HTTP/2: many requests at a time on a connection.
    Http2,
}

impl WireProtocol {
    /// Returns the version of HTTP of the requests; `None` if they are messages.
    pub fn http_version(&self) -> Option<HttpVersion> {
        match self {
            WireProtocol::Http(version) => Some(*version),
            WireProtocol::Calls(_) => Some(HttpVersion::Http2),
            WireProtocol::Messages(_) => None,
        }
    }

    /// Returns the version of HTTP that connections speak, be it for requests or below messages.
    pub fn version_below(&self) -> Option<HttpVersion> {
        match self {
            WireProtocol::Messages(messages) => messages.are_over_http2().then_some(HttpVersion::Http2),
            other => other.http_version(),
        }
    }

    /// Returns true for calls of gRPC, and for messages on such calls.
    pub fn speaks_grpc(&self) -> bool {
        match self {
            WireProtocol::Http(_) => false,
            WireProtocol::Calls(_) => true,
            WireProtocol::Messages(messages) => messages.are_calls(),
        }
    }

    /// Returns the calls, if the protocol is gRPC.
    pub fn calls(&self) -> Option<GrpcConfig> {
        if let WireProtocol::Calls(calls) = self { Some(*calls) } else { None }
    }

    /// Returns the protocol with requests that are sent at once.
    pub(crate) fn at_once(&self) -> WireProtocol {
        match self {
            WireProtocol::Calls(calls) => WireProtocol::Calls(GrpcConfig { message_gap_ns: None, ..*calls }),
            other => other.clone(),
        }
    }

    /// Returns true if one connection carries several requests at once.
    pub fn shares_connections(&self) -> bool {
        *self != WireProtocol::Http(HttpVersion::Http1)
    }
}

impl fmt::Display for HttpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HttpVersion::Http1 => "HTTP/1.1",
            HttpVersion::Http2 => "HTTP/2",
        })
    }
}
