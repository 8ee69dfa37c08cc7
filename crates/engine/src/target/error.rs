//! Errors of a target.

use std::path::PathBuf;

/// Why a target cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TargetError {
    /// The text is not a URL.
    #[error("'{url}' is not a URL: {problem}; write http://HOST[:PORT]/PATH or https://HOST[:PORT]/PATH")]
    Url {
        /// The text.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The scheme is neither http nor https.
    #[error("'{url}': unknown scheme '{scheme}'; truetail speaks http:// and https://")]
    Scheme {
        /// The URL.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// The host has no address.
    #[error("cannot resolve host '{host}': {problem}")]
    Resolve {
        /// The host that was looked up.
        host: String,
        /// What the system said.
        problem: String,
    },
    /// Address overrides were given, and none is for the host and port of the URL.
    #[error("it names {given}, but the URL leads to {wanted}")]
    UnusedResolve {
        /// The hosts and ports that have an override.
        given: String,
        /// Host and port of the URL.
        wanted: String,
    },
    /// The Unix socket cannot be connected to.
    #[error("{}: {problem}", path.display())]
    UnixSocket {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Of several origins some use TLS and some do not, which would have requests of two schemes in HTTP/2.
    #[error("HTTP/2 is spoken with TLS or without it in one run, and {one} and {other} differ")]
    SchemesInHttp2 {
        /// The first origin.
        one: String,
        /// One with the other scheme.
        other: String,
    },
    /// The text is not a method.
    #[error("'{0}' is not a method; write GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS")]
    Method(String),
    /// The line is not a header.
    #[error("'{0}' is not a header; write 'Name: value'")]
    Header(String),
    /// The header contradicts how the request is sent.
    #[error("{0}")]
    Framing(String),
    /// The header controls a connection of HTTP/1.1, which HTTP/2 does not allow.
    #[error("{target}: HTTP/2 does not allow the header '{header}', which is about one connection; leave it out")]
    NotInHttp2 {
        /// Method and URL of the request.
        target: String,
        /// The header.
        header: String,
    },
}
