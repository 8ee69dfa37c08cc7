//! Addresses of an origin: from a lookup, or given by the user.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::str::FromStr;

use socket2::SockAddr;

use super::endpoint::Endpoint;
use super::error::TargetError;
use super::origin::Origin;

/// `HOST:PORT:ADDRESS`: requests for this host and port connect to this address, as with curl's `--resolve`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolve {
    /// The host; `*` for any.
    host: String,
    port: u16,
    addresses: Vec<IpAddr>,
}

impl FromStr for Resolve {
    type Err = String;

    /// Reads `HOST:PORT:ADDRESS[,ADDRESS]…`. An IPv6 host needs brackets; an IPv6 address may have them.
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
    fn applies_to(&self, origin: &Origin) -> bool {
        (self.host == "*" || self.host.eq_ignore_ascii_case(&origin.host)) && self.port == origin.port
    }
}

/// Addresses to use instead of looking up a host. The default overrides nothing.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct AddressOverrides {
    /// Addresses of hosts; the first entry that applies is used.
    pub resolve: Vec<Resolve>,
    /// The path of a Unix socket, for all hosts.
    pub unix_socket: Option<PathBuf>,
}

impl AddressOverrides {
    /// Returns the endpoints of each origin, at least one, in the order of preference. An origin without an entry is
    /// looked up. If there are entries, at least one must apply to some origin.
    ///
    /// # Errors
    /// [`TargetError::Resolve`], [`TargetError::UnusedResolve`] and [`TargetError::UnixSocket`].
    pub fn endpoints(&self, origins: &[Origin]) -> Result<Vec<Vec<Endpoint>>, TargetError> {
        if let Some(path) = &self.unix_socket {
            let endpoint = unix_socket(path.clone())?;
            return Ok(origins.iter().map(|_| vec![endpoint.clone()]).collect());
        }
        self.check_used(origins)?;
        origins.iter().map(|origin| self.given(origin).map_or_else(|| look_up(origin), Ok)).collect()
    }

    /// Refuses the entries if none of them applies to any of `origins`.
    ///
    /// # Errors
    /// [`TargetError::UnusedResolve`].
    pub fn check_used(&self, origins: &[Origin]) -> Result<(), TargetError> {
        if self.resolve.is_empty() || origins.iter().any(|origin| self.given(origin).is_some()) {
            return Ok(());
        }
        let given = self.resolve.iter().map(Resolve::to_string).collect::<Vec<_>>().join(" and ");
        let wanted = origins.iter().map(|origin| format!("{}:{}", origin.host, origin.port));
        Err(TargetError::UnusedResolve { given, wanted: wanted.collect::<Vec<_>>().join(" and ") })
    }

    /// Keeps only the entries that apply to some of `origins`: a setup and its load share the overrides.
    #[must_use]
    pub fn only_for(mut self, origins: &[Origin]) -> AddressOverrides {
        self.resolve.retain(|entry| origins.iter().any(|origin| entry.applies_to(origin)));
        self
    }

    /// Returns the endpoints of `origin` from the first entry that applies to it.
    fn given(&self, origin: &Origin) -> Option<Vec<Endpoint>> {
        let entry = self.resolve.iter().find(|entry| entry.applies_to(origin))?;
        Some(entry.addresses.iter().map(|address| SocketAddr::new(*address, origin.port).into()).collect())
    }
}

fn unix_socket(path: PathBuf) -> Result<Endpoint, TargetError> {
    let error = |problem: String| TargetError::UnixSocket { path: path.clone(), problem };
    SockAddr::unix(&path).map_err(|_| error("the path is too long for a socket".to_owned()))?;
    let there = std::fs::metadata(&path).map_err(|e| error(e.to_string()))?;
    let is_socket = there.file_type().is_socket();
    if is_socket { Ok(Endpoint::Unix(path)) } else { Err(error("it is not a socket".to_owned())) }
}

fn look_up(origin: &Origin) -> Result<Vec<Endpoint>, TargetError> {
    let error = |problem: String| TargetError::Resolve { host: origin.host.clone(), problem };
    // The resolver expects an IPv6 address without its brackets.
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

    fn overrides(entries: &[&str]) -> AddressOverrides {
        AddressOverrides { resolve: entries.iter().map(|entry| entry.parse().unwrap()).collect(), unix_socket: None }
    }

    fn endpoints(overrides: &AddressOverrides, origin: &Origin) -> Vec<String> {
        let of_each = overrides.endpoints(std::slice::from_ref(origin)).unwrap();
        of_each[0].iter().map(Endpoint::to_string).collect()
    }

    #[test]
    fn a_name_leads_where_the_user_says() {
        let overrides = overrides(&["other.test:80:10.0.0.1", "Example.test:81:127.0.0.2,[::1]", "*:82:127.0.0.3"]);
        assert_eq!(endpoints(&overrides, &origin("example.test", 81)), ["127.0.0.2:81", "[::1]:81"]);
        assert_eq!(endpoints(&overrides, &origin("any.test", 82)), ["127.0.0.3:82"]);
        assert_eq!(endpoints(&self::overrides(&["[::2]:80:::1"]), &origin("[::2]", 80)), ["[::1]:80"]);
        let unused = overrides.endpoints(&[origin("example.test", 83)]).unwrap_err();
        assert!(unused.to_string().contains("example.test:83"), "{unused}");
    }

    #[test]
    fn of_several_origins_one_may_have_an_entry() {
        let overrides = overrides(&["example.test:80:127.0.0.2"]);
        let named = origin("example.test", 80);
        let other = origin("127.0.0.9", 81);
        let found = overrides.endpoints(&[other.clone(), named]).unwrap();
        assert_eq!(
            found,
            [vec![Endpoint::Tcp(([127, 0, 0, 9], 81).into())], vec![Endpoint::Tcp(([127, 0, 0, 2], 80).into())]]
        );
        let unused = overrides.endpoints(&[other, origin("b", 1)]).unwrap_err().to_string();
        assert!(unused.contains("127.0.0.9:81 and b:1"), "{unused}");
    }

    #[test]
    fn entries_and_sockets_that_are_refused() {
        for text in
            ["", "a", "a:1", ":1:127.0.0.1", "a:0:127.0.0.1", "a:x:127.0.0.1", "a:1:", "a:1:b", "[::1:80:1.2.3.4"]
        {
            assert!(text.parse::<Resolve>().is_err(), "{text}");
        }
        for (path, part) in [("/no/such", "No such file"), (".", "not a socket")] {
            let overrides = AddressOverrides { unix_socket: Some(path.into()), ..AddressOverrides::default() };
            let error = overrides.endpoints(&[origin("a", 1)]).unwrap_err().to_string();
            assert!(error.contains(path) && error.contains(part), "{error}");
        }
        let long = AddressOverrides { unix_socket: Some("x".repeat(200).into()), ..AddressOverrides::default() };
        assert!(long.endpoints(&[origin("a", 1)]).unwrap_err().to_string().contains("too long"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_an_entry_or_refused(text in "\\PC{0,12}|[a*\\[\\]:,0-9.]{0,24}") {
            let _ = text.parse::<Resolve>();
        }
    }

    #[test]
    fn addresses_need_no_lookup() {
        assert_eq!(endpoints(&AddressOverrides::default(), &origin("[::1]", 81)), ["[::1]:81"]);
        let error = AddressOverrides::default().endpoints(&[origin("no-such-host.invalid", 80)]).unwrap_err();
        assert!(matches!(error, TargetError::Resolve { .. }), "{error}");
    }
}
