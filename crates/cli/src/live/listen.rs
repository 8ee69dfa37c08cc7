//! Listener of the live page.

use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};

use crate::error::{Result, runtime_error, usage_error};
use crate::output;

/// Listener of the live page, and the name that the user gave it.
#[derive(Debug)]
pub(super) struct LiveListener {
    pub listener: TcpListener,
    /// The host of `--live`, without port, if it is a name and not an address.
    pub names: Vec<String>,
}

impl LiveListener {
    /// Listens on `given`, an address or a name with a port. Tells the user if other machines can reach it.
    ///
    /// # Errors
    /// If `given` is no address, or cannot be listened on, for example because another program uses the port.
    pub(super) fn bind(given: &str) -> Result<LiveListener> {
        let wrong = |problem: String| {
            usage_error(format!("--live '{given}': {problem}; write ADDRESS:PORT, such as 127.0.0.1:9000"))
        };
        let mut found = given.to_socket_addrs().map_err(|error| wrong(error.to_string()))?;
        let address = found.next().ok_or_else(|| wrong("the name has no address".to_owned()))?;
        let listener = TcpListener::bind(address).map_err(|error| {
            runtime_error(format!(
                "--live {given}: cannot listen on {address}: {error}; choose another port, or 0 for any free one"
            ))
        })?;
        if !address.ip().is_loopback() {
            output::note(&format!(
                "--live {given}: everyone who can reach {address} can see this run, with its URLs and failing answers"
            ));
        }
        let name = given.rsplit_once(':').map_or(given, |(name, _)| name);
        let is_address = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        let names = if is_address { Vec::new() } else { vec![name.to_owned()] };
        Ok(LiveListener { listener, names })
    }
}

/// Returns the URL of the page. If the listener is on all addresses, this is the loopback address.
pub(super) fn url_of(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
        ip => ip,
    };
    format!("http://{}/", SocketAddr::new(ip, address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_and_addresses_are_not() {
        assert!(LiveListener::bind("127.0.0.1:0").unwrap().names.is_empty());
        assert_eq!(LiveListener::bind("localhost:0").unwrap().names, ["localhost"]);
    }

    #[test]
    fn urls_can_be_opened() {
        for (address, url) in [
            ("127.0.0.1:9", "http://127.0.0.1:9/"),
            ("0.0.0.0:80", "http://127.0.0.1:80/"),
            ("[::]:80", "http://[::1]:80/"),
            ("[fd00::1]:80", "http://[fd00::1]:80/"),
        ] {
            assert_eq!(url_of(address.parse().unwrap()), url);
        }
    }
}
