//! Errors of a target.

use std::path::PathBuf;

/// Reason why a target cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TargetError {
    /// The text is not a URL.
    #[error("'{}' is not a URL: {problem}; write http://HOST[:PORT]/PATH or https://HOST[:PORT]/PATH", url.escape_debug())]
    Url {
        /// The text.
        url: String,
        /// Problem of the text.
        problem: String,
    },
    /// The scheme is neither http nor https.
    #[error("'{}': unknown scheme '{scheme}'; truetail speaks http:// and https://", url.escape_debug())]
    Scheme {
        /// The URL.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// The host has no address.
    #[error("cannot resolve host '{}': {problem}", host.escape_debug())]
    Resolve {
        /// The host that was looked up.
        host: String,
        /// The system's error.
        problem: String,
    },
    /// Address overrides were given, but none is for the host and port of the URL.
    #[error("it names {given}, but the URL leads to {wanted}")]
    UnusedResolve {
        /// Hosts and ports of the overrides.
        given: String,
        /// Host and port of the URL.
        wanted: String,
    },
    /// The Unix socket cannot be connected to.
    #[error("{}: {problem}", path.display())]
    UnixSocket {
        /// Path of the socket.
        path: PathBuf,
        /// Problem of the socket.
        problem: String,
    },
    /// Some origins use TLS and others do not, but HTTP/2 requests of a run must have one scheme.
    #[error("HTTP/2 is spoken with TLS or without it in one run, and {one} and {other} differ")]
    SchemesInHttp2 {
        /// The first origin.
        one: String,
        /// An origin with the other scheme.
        other: String,
    },
    /// The text is not a method.
    #[error("'{}' is not a method; write GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS", .0.escape_debug())]
    Method(String),
    /// The line is not a header.
    #[error("'{}' is not a header; write 'Name: value'", .0.escape_debug())]
    Header(String),
    /// The header contradicts the framing of the request.
    #[error("{0}")]
    Framing(String),
    /// The request has a trace header of its own.
    #[error("{target} has the header {header} already, which carries the trace ids; leave it out")]
    HasTraceHeader {
        /// Method and URL of the request.
        target: String,
        /// Name of the header.
        header: &'static str,
    },
    /// The header controls an HTTP/1.1 connection, and HTTP/2 does not allow it.
    #[error("{target}: HTTP/2 does not allow the header '{header}', which is about one connection; leave it out")]
    NotInHttp2 {
        /// Method and URL of the request.
        target: String,
        /// The header.
        header: String,
    },
}
