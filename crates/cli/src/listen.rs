//! Listeners beside a run: of the live page, and of spans.

use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};

use crate::error::{Result, runtime_error, usage_error};
use crate::output;

/// Listener beside a run, and the name that the user gave it.
#[derive(Debug)]
pub(crate) struct RunListener {
    pub listener: TcpListener,
    /// The host of the option, without port, if it is a name and not an address.
    pub names: Vec<String>,
}

impl RunListener {
    /// Listens on `given`, the value of `option`: an address or a name with a port. If other machines can reach it,
    /// tells the user what they can do.
    ///
    /// # Errors
    /// If `given` is no address, or cannot be listened on, for example because another program uses the port.
    pub(crate) fn bind(option: &str, given: &str, others_can: &str) -> Result<RunListener> {
        let wrong = |problem: String| {
            usage_error(format!("{option} '{given}': {problem}; write ADDRESS:PORT, such as 127.0.0.1:9000"))
        };
        let mut found = given.to_socket_addrs().map_err(|error| wrong(error.to_string()))?;
        let address = found.next().ok_or_else(|| wrong("the name has no address".to_owned()))?;
        let listener = TcpListener::bind(address).map_err(|error| {
            runtime_error(format!(
                "{option} {given}: cannot listen on {address}: {error}; choose another port, or 0 for any free one"
            ))
        })?;
        if !address.ip().is_loopback() {
            output::note(&format!("{option} {given}: everyone who can reach {address} can {others_can}"));
        }
        let name = given.rsplit_once(':').map_or(given, |(name, _)| name);
        let is_address = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        let names = if is_address { Vec::new() } else { vec![name.to_owned()] };
        Ok(RunListener { listener, names })
    }
}

/// Returns the URL of the page. If the listener is on all addresses, this is the loopback address.
pub(crate) fn url_of(address: SocketAddr) -> String {
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
        let names = |given| RunListener::bind("--live", given, "see it").unwrap().names;
        assert!(names("127.0.0.1:0").is_empty());
        assert_eq!(names("localhost:0"), ["localhost"]);
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
