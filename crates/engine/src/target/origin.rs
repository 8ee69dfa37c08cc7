//! The server of a request: scheme, host and port.

use std::fmt;

use url::Url;

/// Scheme, host and port of a URL. Requests that share connections have the same origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// `http` or `https`.
    pub scheme: String,
    /// A name or an address; IPv6 in brackets.
    pub host: String,
    /// The port; if the URL has none, the scheme's default.
    pub port: u16,
}

impl Origin {
    pub(super) fn from_url(url: &Url) -> Origin {
        Origin {
            scheme: url.scheme().to_owned(),
            host: url.host_str().unwrap_or_default().to_owned(),
            port: url.port_or_known_default().unwrap_or(80),
        }
    }

    /// Returns true if connections use TLS.
    pub fn uses_tls(&self) -> bool {
        matches!(self.scheme.as_str(), "https" | "tls" | "rediss" | "wss")
    }

    /// Returns true if the port is the scheme's default.
    pub fn has_default_port(&self) -> bool {
        default_port(&self.scheme) == Some(self.port)
    }

    /// Returns the host; an IPv6 address without its brackets.
    pub fn bare_host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }
}

/// Returns the default port of a scheme, if it has one.
pub(super) fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        "redis" | "rediss" => Some(6379),
        _ => None,
    }
}

/// Writes `http://HOST`, and `:PORT` if it is not the scheme's default.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        if self.has_default_port() { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}
