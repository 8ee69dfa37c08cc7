//! Requests from web pages.
//!
//! A page of another site that is open in a browser on this machine can send requests to local servers. It cannot read
//! the answers, but its requests take effect. Browsers name the site in `Origin`, and tell in `Sec-Fetch-Site` whether
//! it is a foreign one. With DNS rebinding, the page's own name leads to this machine, so both fields look local; then
//! `Host` is a name and not an address.

use std::net::IpAddr;

/// Facts about the page that sent a request. Programs other than browsers state none.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct RequestOrigin<'a> {
    /// The requested server, from `Host` or `:authority`.
    pub(crate) host: &'a [u8],
    pub(crate) origin: Option<&'a [u8]>,
    pub(crate) fetch_site: Option<&'a [u8]>,
}

impl RequestOrigin<'_> {
    /// Returns true if a page of another site sent the request.
    pub(crate) fn is_foreign(&self) -> bool {
        let from_elsewhere = self.fetch_site.is_some_and(|site| !matches!(site, b"same-origin" | b"none"));
        from_elsewhere || self.origin.is_some_and(|origin| !self.is_own(origin))
    }

    fn is_own(&self, origin: &[u8]) -> bool {
        let [Ok(origin), Ok(host)] = [origin, self.host].map(std::str::from_utf8) else { return false };
        origin.split_once("://").is_some_and(|(_, from)| from.eq_ignore_ascii_case(host)) && is_no_foreign_name(host)
    }
}

/// Returns true for an address and for `localhost`, with or without a port.
fn is_no_foreign_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let literal = host.split_once(']').map_or(name, |(literal, _)| literal.trim_start_matches('['));
    name.eq_ignore_ascii_case("localhost") || literal.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_foreign(host: &str, origin: Option<&str>, fetch_site: Option<&str>) -> bool {
        let [origin, fetch_site] = [origin, fetch_site].map(|value| value.map(str::as_bytes));
        RequestOrigin { host: host.as_bytes(), origin, fetch_site }.is_foreign()
    }

    #[test]
    fn programs_and_own_pages_are_not_foreign() {
        for host in ["localhost:80", "127.0.0.1", "server.example:8080", "", "[::1]:9"] {
            assert!(!is_foreign(host, None, None), "{host}");
        }
        for host in ["localhost:8080", "LOCALHOST", "127.0.0.1:8080", "[::1]:9", "[::1]", "10.1.2.3"] {
            assert!(!is_foreign(host, Some(&format!("http://{host}")), Some("same-origin")), "{host}");
        }
        assert!(!is_foreign("localhost", None, Some("none")), "typed by the user");
    }

    #[test]
    fn other_pages_are() {
        for origin in ["http://evil.example", "null", "", "http://localhost:81", "https://localhost:80.evil.example"] {
            assert!(is_foreign("localhost:80", Some(origin), None), "{origin}");
        }
        for host in ["evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example:80", "", ":80", "[::1", "a]b"]
        {
            assert!(is_foreign(host, Some(&format!("http://{host}")), Some("same-origin")), "{host}: DNS rebinding");
        }
        for site in ["cross-site", "same-site", "", "Same-Origin"] {
            assert!(is_foreign("localhost", None, Some(site)), "{site}");
        }
    }
}
