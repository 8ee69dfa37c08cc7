//! Hosts that may receive requests.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use url::{Host, Url};

/// A host that the user allows, at one port or at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllowedHost {
    host: Host,
    port: Option<u16>,
}

impl FromStr for AllowedHost {
    type Err = String;

    /// Reads `HOST` or `HOST:PORT`; an IPv6 address with a port is in brackets.
    fn from_str(text: &str) -> Result<AllowedHost, String> {
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            return Ok(AllowedHost { host: Host::Ipv6(address), port: None });
        }
        let help = "write HOST or HOST:PORT, such as staging.example.com:8443; there are no wildcards";
        let wrong = || format!("'{text}' is no host; {help}");
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !text.ends_with(']') => {
                let port = port.parse::<u16>().ok().filter(|port| *port > 0);
                (name, Some(port.ok_or_else(wrong)?))
            }
            _ => (text, None),
        };
        let host = Host::parse(name).ok().filter(is_plain).ok_or_else(wrong)?;
        Ok(AllowedHost { host, port })
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => write!(f, "{}", self.host),
        }
    }
}

impl AllowedHost {
    fn covers(&self, host: &Host<&str>, port: Option<u16>) -> bool {
        let same = match (&self.host, host) {
            (Host::Domain(allowed), Host::Domain(name)) => allowed == name,
            (Host::Ipv4(allowed), Host::Ipv4(address)) => allowed == address,
            (Host::Ipv6(allowed), Host::Ipv6(address)) => allowed == address,
            _ => false,
        };
        same && (self.port.is_none() || self.port == port)
    }
}

/// Returns the host of a URL if requests may go there.
///
/// # Errors
/// If the URL names a host that is neither loopback nor allowed.
pub(crate) fn check(url: &Url, allowed: &[AllowedHost]) -> Result<(), String> {
    let host = url.host().ok_or_else(|| format!("'{url}' names no host"))?;
    let port = url.port_or_known_default();
    if is_loopback(&host) || allowed.iter().any(|allowed| allowed.covers(&host, port)) {
        return Ok(());
    }
    Err(format!("the host '{host}' is not allowed; the user can allow it: truetail mcp --allow-host {host}"))
}

/// Returns false for a name with a character that names of hosts do not have, such as the `*` of a wildcard.
fn is_plain(host: &Host) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !matches!(host, Host::Domain(name) if name.is_empty() || !name.bytes().all(is_letter))
}

/// Returns true for addresses of this machine that no other machine can have, and for the name `localhost`.
fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => IpAddr::V6(*address).to_canonical().is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_allowed(url: &str, allowed: &[&str]) -> bool {
        let allowed: Vec<AllowedHost> = allowed.iter().map(|text| text.parse().expect(text)).collect();
        check(&Url::parse(url).expect(url), &allowed).is_ok()
    }

    #[test]
    fn loopback_is_allowed_however_it_is_written() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1:81/",
            "http://0x7f000001/",
            "http://LOCALHOST/",
            "http://[::1]:80/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert!(is_allowed(url, &[]), "{url}");
        }
    }

    #[test]
    fn everything_else_is_refused_until_it_is_allowed() {
        for url in [
            "http://example.com/",
            "http://127.0.0.1@example.com/",
            "http://localhost.example.com/",
            "http://example.localhost/",
            "http://localhost./",
            "http://0.0.0.0/",
            "http://10.0.0.1/",
            "http://169.254.169.254/",
            "http://[::]/",
            "http://[::ffff:10.0.0.1]/",
            "http://127.0.0.1.nip.io/",
            "http://2130706434.example/",
        ] {
            assert!(!is_allowed(url, &["other.example"]), "{url}");
        }
        assert!(is_allowed("http://Example.com:81/", &["example.COM"]));
        assert!(!is_allowed("http://a.example.com/", &["example.com"]));
        assert!(is_allowed("https://example.com/", &["example.com:443"]));
        assert!(!is_allowed("http://example.com/", &["example.com:443"]));
        assert!(
            is_allowed("http://[fd00::1]:8080/", &["fd00::1"]) && is_allowed("http://[fd00::1]/", &["[fd00::1]:80"])
        );
    }

    #[test]
    fn a_host_that_cannot_be_meant_is_refused() {
        for text in ["", "*", "*.example.com", "a b", "http://a", "a:0", "a:99999", "a:b", "a/b", "user@a"] {
            let error = text.parse::<AllowedHost>().expect_err(text);
            assert!(error.contains("HOST:PORT"), "{error}");
        }
        assert_eq!("[::1]:80".parse::<AllowedHost>().unwrap().to_string(), "[::1]:80");
    }
}
