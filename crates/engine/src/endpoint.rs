//! Where connections lead: an address of the network, or a socket in the file system; and the ways to one that the user
//! may name in place of a lookup.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

use socket2::{Domain, SockAddr};
use truetail_model::record::Cause;

use crate::connection::connect_cause;
use crate::request::Origin;
use crate::target::TargetError;

/// Where a connection leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// TCP to an address.
    Tcp(SocketAddr),
    /// A stream socket in the file system.
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
    pub(crate) fn domain(&self) -> Domain {
        match self {
            Endpoint::Tcp(address) => Domain::for_address(*address),
            Endpoint::Unix(_) => Domain::UNIX,
        }
    }

    /// As the system takes it.
    ///
    /// # Errors
    /// When the path of a socket is longer than the system's limit, which [`AddressOverrides::endpoints`] has ruled out.
    pub(crate) fn address(&self) -> io::Result<SockAddr> {
        match self {
            Endpoint::Tcp(address) => Ok((*address).into()),
            Endpoint::Unix(path) => SockAddr::unix(path),
        }
    }

    /// Why connecting to it failed. A socket in the file system whose listener has its queue full refuses at once, where
    /// TCP would try again.
    pub(crate) fn connect_cause(&self, error: &io::Error) -> Cause {
        let refuses = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotFound);
        match self {
            Endpoint::Unix(_) if refuses => Cause::Refused,
            _ => connect_cause(error),
        }
    }
}

/// `HOST:PORT:ADDRESS`: connect to this address where that host and port are meant, as curl's `--resolve` has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolve {
    /// `*` for any.
    host: String,
    port: u16,
    addresses: Vec<IpAddr>,
}

impl FromStr for Resolve {
    type Err = String;

    /// Reads `HOST:PORT:ADDRESS[,ADDRESS]…`; an IPv6 address may stand in brackets, and so must an IPv6 host.
    fn from_str(text: &str) -> Result<Resolve, String> {
        let error = || format!("'{text}' is not of the form HOST:PORT:ADDRESS, such as example.test:80:127.0.0.1");
        let host_end = if text.starts_with('[') { text.find(']').map(|at| at + 1) } else { text.find(':') };
        let (host, rest) = host_end.and_then(|at| text.split_at_checked(at)).ok_or_else(error)?;
        let (port, addresses) = rest.strip_prefix(':').and_then(|rest| rest.split_once(':')).ok_or_else(error)?;
        let port: u16 = port.parse().ok().filter(|port| *port > 0).ok_or_else(error)?;
        let address = |text: &str| text.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let addresses: Option<Vec<IpAddr>> = addresses.split(',').map(address).collect();
        if host.is_empty() {
            return Err(error());
        }
        Ok(Resolve { host: host.to_ascii_lowercase(), port, addresses: addresses.ok_or_else(error)? })
    }
}

impl fmt::Display for Resolve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl Resolve {
    fn is_of(&self, origin: &Origin) -> bool {
        (self.host == "*" || self.host.eq_ignore_ascii_case(&origin.host)) && self.port == origin.port
    }
}

/// How an origin is reached, where its name is not simply looked up.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct AddressOverrides {
    /// Names that are not looked up; the first that fits counts.
    pub resolve: Vec<Resolve>,
    /// A socket in the file system, whatever the URL says.
    pub unix_socket: Option<PathBuf>,
}

impl AddressOverrides {
    /// Where connections to `origin` lead, the one to try first at the front; at least one.
    ///
    /// # Errors
    /// [`TargetError::Resolve`], [`TargetError::UnusedResolve`] and [`TargetError::UnixSocket`].
    pub fn endpoints(&self, origin: &Origin) -> Result<Vec<Endpoint>, TargetError> {
        if let Some(path) = &self.unix_socket {
            return unix_socket(path.clone()).map(|endpoint| vec![endpoint]);
        }
        if self.resolve.is_empty() {
            return look_up(origin);
        }
        let entry = self.resolve.iter().find(|entry| entry.is_of(origin)).ok_or_else(|| {
            let given = self.resolve.iter().map(Resolve::to_string).collect::<Vec<_>>().join(" and ");
            TargetError::UnusedResolve { given, wanted: format!("{}:{}", origin.host, origin.port) }
        })?;
        Ok(entry.addresses.iter().map(|address| SocketAddr::new(*address, origin.port).into()).collect())
    }
}

fn unix_socket(path: PathBuf) -> Result<Endpoint, TargetError> {
    let error = |problem: String| TargetError::UnixSocket { path: path.clone(), problem };
    SockAddr::unix(&path).map_err(|_| error("the path is longer than the system's limit".to_owned()))?;
    let there = std::fs::metadata(&path).map_err(|e| error(e.to_string()))?;
    let is_socket = std::os::unix::fs::FileTypeExt::is_socket(&there.file_type());
    if is_socket { Ok(Endpoint::Unix(path)) } else { Err(error("it is no socket".to_owned())) }
}

fn look_up(origin: &Origin) -> Result<Vec<Endpoint>, TargetError> {
    let error = |problem: String| TargetError::Resolve { host: origin.host.clone(), problem };
    // The resolver wants an IPv6 address without its brackets.
    let addresses = (origin.bare_host(), origin.port).to_socket_addrs().map_err(|e| error(e.to_string()))?;
    let endpoints: Vec<Endpoint> = addresses.map(Endpoint::from).collect();
    if endpoints.is_empty() { Err(error("it has no address".into())) } else { Ok(endpoints) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(host: &str, port: u16) -> Origin {
        Origin { scheme: "http".to_owned(), host: host.to_owned(), port }
    }

    fn way(entries: &[&str]) -> AddressOverrides {
        AddressOverrides { resolve: entries.iter().map(|entry| entry.parse().unwrap()).collect(), unix_socket: None }
    }

    fn endpoints(way: &AddressOverrides, origin: &Origin) -> Vec<String> {
        way.endpoints(origin).unwrap().iter().map(Endpoint::to_string).collect()
    }

    #[test]
    fn a_name_leads_where_the_user_says() {
        let way = way(&["other.test:80:10.0.0.1", "Example.test:81:127.0.0.2,[::1]", "*:82:127.0.0.3"]);
        assert_eq!(endpoints(&way, &origin("example.test", 81)), ["127.0.0.2:81", "[::1]:81"]);
        assert_eq!(endpoints(&way, &origin("any.test", 82)), ["127.0.0.3:82"]);
        assert_eq!(endpoints(&self::way(&["[::2]:80:::1"]), &origin("[::2]", 80)), ["[::1]:80"]);
        let unused = way.endpoints(&origin("example.test", 83)).unwrap_err();
        assert!(unused.to_string().contains("example.test:83"), "{unused}");
    }

    #[test]
    fn what_is_no_way() {
        for text in
            ["", "a", "a:1", ":1:127.0.0.1", "a:0:127.0.0.1", "a:x:127.0.0.1", "a:1:", "a:1:b", "[::1:80:1.2.3.4"]
        {
            assert!(text.parse::<Resolve>().is_err(), "{text}");
        }
        for (path, part) in [("/no/such", "No such file"), (".", "no socket")] {
            let way = AddressOverrides { unix_socket: Some(path.into()), ..AddressOverrides::default() };
            let error = way.endpoints(&origin("a", 1)).unwrap_err().to_string();
            assert!(error.contains(path) && error.contains(part), "{error}");
        }
        let long = AddressOverrides { unix_socket: Some("x".repeat(200).into()), ..AddressOverrides::default() };
        assert!(long.endpoints(&origin("a", 1)).unwrap_err().to_string().contains("longer"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_way_or_none(text in "\\PC{0,12}|[a*\\[\\]:,0-9.]{0,24}") {
            let _ = text.parse::<Resolve>();
        }
    }

    #[test]
    fn addresses_need_no_lookup() {
        assert_eq!(endpoints(&AddressOverrides::default(), &origin("[::1]", 81)), ["[::1]:81"]);
        let error = AddressOverrides::default().endpoints(&origin("no-such-host.invalid", 80)).unwrap_err();
        assert!(matches!(error, TargetError::Resolve { .. }), "{error}");
    }
}
