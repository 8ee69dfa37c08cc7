//! The names that requests may use for this server.
//!
//! In an attack by DNS rebinding, a foreign page makes its own name resolve to this machine, and so reads local servers
//! as if they were its own. Its requests carry its name in `Host`. An IP address in `Host` involves no DNS, so it is
//! safe.

use std::net::IpAddr;

use super::Request;

/// Names in addition to addresses and `localhost`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Hosts(pub(super) Vec<String>);

impl Hosts {
    /// Returns the reason to refuse the request, if any.
    pub(super) fn objection(&self, request: &Request) -> Option<&'static str> {
        let mut hosts = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host"));
        let (Some((_, host)), None) = (hosts.next(), hosts.next()) else {
            return Some("a request needs exactly one Host header");
        };
        if !self.allows(host) {
            return Some(
                "the name in Host is another one: this server answers to an IP address, to localhost, and to the name it \
                 was started with; use its IP address",
            );
        }
        let origin = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("origin"));
        let is_foreign =
            |origin: &str| origin.split_once("://").is_none_or(|(_, from)| !from.eq_ignore_ascii_case(host));
        let sites = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("sec-fetch-site"));
        // A link from elsewhere may lead to a page here. Only our own pages may change anything.
        let asks_to_write = !matches!(request.method.as_str(), "GET" | "HEAD");
        let mut elsewhere = sites.filter(|(_, site)| asks_to_write && !matches!(site.as_str(), "same-origin" | "none"));
        let foreign = origin.into_iter().any(|(_, origin)| is_foreign(origin)) || elsewhere.next().is_some();
        foreign.then_some("this server answers its own pages only")
    }

    fn allows(&self, host: &str) -> bool {
        let name = name_of(host);
        let literal = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        literal.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.0.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// Removes the port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !host.ends_with(']') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objection(headers: &[(&str, &str)]) -> bool {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request = Request { method: "POST".to_owned(), headers, ..Request::default() };
        Hosts(vec!["bench.example".to_owned()]).objection(&request).is_some()
    }

    #[test]
    fn addresses_localhost_and_own_names_are_answered() {
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:8080",
            "127.0.0.1",
            "[::1]:9",
            "[::1]",
            "10.1.2.3:80",
            "bench.example:80",
        ] {
            assert!(!objection(&[("Host", host)]), "{host}");
        }
    }

    #[test]
    fn foreign_names_and_origins_are_not() {
        for host in ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "", ":80", "[::1", "a:b"] {
            assert!(objection(&[("Host", host)]), "{host}");
        }
        assert!(objection(&[]));
        assert!(objection(&[("Host", "localhost"), ("host", "localhost")]));
        for origin in ["http://evil.example", "null", "http://localhost:81", "http://127.0.0.1:80"] {
            assert!(objection(&[("Host", "localhost:80"), ("Origin", origin)]), "{origin}");
        }
        assert!(!objection(&[("Host", "localhost:80"), ("Origin", "http://localhost:80")]));
        for (site, refused) in [("cross-site", true), ("same-site", true), ("same-origin", false), ("none", false)] {
            assert_eq!(objection(&[("Host", "localhost"), ("Sec-Fetch-Site", site)]), refused, "{site}");
        }
    }
}
