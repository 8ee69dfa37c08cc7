//! Endpoints of connections, and the causes of failures to connect.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use socket2::{Domain, SockAddr};
use truetail_model::record::Cause;

/// Endpoint of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// TCP to an address.
    Tcp(SocketAddr),
    /// A Unix stream socket.
    Unix(PathBuf),
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Endpoint {
        Endpoint::Tcp(address)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Tcp(address) => address.fmt(f),
            Endpoint::Unix(path) => write!(f, "the socket {}", path.display()),
        }
    }
}

impl Endpoint {
    /// Returns true if the endpoint is on this machine for certain.
    pub fn is_local(&self) -> bool {
        match self {
            Endpoint::Tcp(address) => address.ip().to_canonical().is_loopback(),
            Endpoint::Unix(_) => true,
        }
    }

    pub(crate) fn domain(&self) -> Domain {
        match self {
            Endpoint::Tcp(address) => Domain::for_address(*address),
            Endpoint::Unix(_) => Domain::UNIX,
        }
    }

    /// Returns the address in the system's form.
    ///
    /// # Errors
    /// If the path of a Unix socket exceeds the system's limit, which `AddressOverrides::endpoints` rules out.
    pub(crate) fn address(&self) -> io::Result<SockAddr> {
        match self {
            Endpoint::Tcp(address) => Ok((*address).into()),
            Endpoint::Unix(path) => SockAddr::unix(path),
        }
    }

    /// Returns the cause of a failure to connect to this endpoint. A Unix socket refuses at once if the listener's
    /// queue is full, whereas TCP retries.
    pub(crate) fn connect_cause(&self, error: &io::Error) -> Cause {
        let refuses = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotFound);
        match self {
            Endpoint::Unix(_) if refuses => Cause::Refused,
            Endpoint::Unix(_) | Endpoint::Tcp(_) => connect_cause(error),
        }
    }
}

/// Returns the cause of a failure to connect, from the system's error.
pub(crate) fn connect_cause(error: &io::Error) -> Cause {
    use rustix::io::Errno;
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::CONNREFUSED) => Cause::Refused,
        Some(Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NETDOWN | Errno::HOSTDOWN) => Cause::Unreachable,
        Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN) => Cause::NoLocalPort,
        Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => Cause::NoFileDescriptor,
        Some(Errno::CONNRESET | Errno::CONNABORTED) => Cause::ResetInHandshake,
        _ => Cause::ConnectOther,
    }
}
