//! What is asked for, and where: a URL resolved to one address, and the bytes of the request, made once.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use url::Url;

/// The HTTP method. Only what changes how an answer is read has a variant of its own.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Method {
    /// GET.
    #[default]
    Get,
    /// HEAD: answers have no body, whatever their head says.
    Head,
    /// Any other method, in upper case.
    Other(String),
}

impl Method {
    /// As it is sent.
    pub fn as_str(&self) -> &str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Other(name) => name,
        }
    }
}

impl FromStr for Method {
    type Err = TargetError;

    /// Reads a token of RFC 9110 and puts it in upper case. CONNECT is refused: it asks for a tunnel.
    fn from_str(text: &str) -> Result<Method, TargetError> {
        let name = text.trim().to_ascii_uppercase();
        if name.is_empty() || !name.bytes().all(is_token_byte) || name == "CONNECT" {
            return Err(TargetError::Method(text.to_owned()));
        }
        Ok(match name.as_str() {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            _ => Method::Other(name),
        })
    }
}

/// tchar of RFC 9110, section 5.6.2.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Why a target is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TargetError {
    /// Not a URL.
    #[error("'{url}' is not a URL: {problem}; write http://HOST[:PORT]/PATH")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A scheme that is not spoken here.
    #[error("'{url}': unknown scheme '{scheme}'; truetail speaks http://")]
    Scheme {
        /// What was given.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// The host has no address.
    #[error("host '{host}' does not resolve: {problem}")]
    Resolve {
        /// What was looked up.
        host: String,
        /// What the system said.
        problem: String,
    },
    /// Not a method.
    #[error("'{0}' is not a method; write GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS")]
    Method(String),
    /// Not a header.
    #[error("'{0}' is not a header; write 'Name: value'")]
    Header(String),
}

/// What is asked for, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    url: Url,
    method: Method,
    addresses: Vec<SocketAddr>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Target {
    /// Reads the URL and looks its host up. `headers` are `Name: value` lines and replace the defaults of the same
    /// name (`Host`, `User-Agent`, `Accept`, `Content-Length`).
    ///
    /// # Errors
    /// See [`TargetError`].
    pub fn resolve(method: Method, url: &str, headers: &[String], body: Vec<u8>) -> Result<Target, TargetError> {
        let parsed = parse_url(url)?;
        let headers = headers.iter().map(|line| parse_header(line)).collect::<Result<Vec<_>, _>>()?;
        let addresses = look_up(&parsed)?;
        Ok(Target { url: parsed, method, addresses, headers, body })
    }

    /// The URL.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The address that connections are made to: the first that the host's name gave.
    pub fn address(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// Every address of the host, the one in use first.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Uses another one of its addresses from now on.
    pub(crate) fn prefer(&mut self, address: SocketAddr) {
        self.addresses.retain(|other| *other != address);
        self.addresses.insert(0, address);
    }

    /// The request in HTTP/1.1, head and body, with `extra` header lines.
    pub fn http1_request(&self, extra: &[(&str, &str)]) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method.as_str(), self.path_and_query());
        let mut put = |name: &str, value: &dyn fmt::Display| head.push_str(&format!("{name}: {value}\r\n"));
        let given = |name: &str| self.headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name));
        if !given("host") {
            put("Host", &self.host_header());
        }
        if !given("user-agent") {
            put("User-Agent", &concat!("truetail/", env!("CARGO_PKG_VERSION")));
        }
        if !given("accept") {
            put("Accept", &"*/*");
        }
        if !given("content-length") && !given("transfer-encoding") && self.sends_length() {
            put("Content-Length", &self.body.len());
        }
        self.headers.iter().for_each(|(name, value)| put(name, value));
        extra.iter().for_each(|(name, value)| put(name, value));
        head.push_str("\r\n");
        let mut request = head.into_bytes();
        request.extend_from_slice(&self.body);
        request
    }

    /// A body needs its length; so does a method that would normally have one, even where it is empty.
    fn sends_length(&self) -> bool {
        !self.body.is_empty() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH")
    }

    fn path_and_query(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }

    fn host_header(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

fn parse_url(text: &str) -> Result<Url, TargetError> {
    let error = |problem: String| TargetError::Url { url: text.to_owned(), problem };
    if !text.contains("://") {
        return Err(error("it has no scheme".into()));
    }
    let url = Url::parse(text).map_err(|e| error(e.to_string()))?;
    if url.scheme() != "http" {
        return Err(TargetError::Scheme { url: text.to_owned(), scheme: url.scheme().to_owned() });
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(error("it names no host".into()));
    }
    if url.port() == Some(0) {
        return Err(error("port 0 is no port".into()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(error("a user name in a URL is not sent; use -H 'Authorization: …'".into()));
    }
    Ok(url)
}

fn parse_header(line: &str) -> Result<(String, String), TargetError> {
    let error = || TargetError::Header(line.to_owned());
    let (name, value) = line.split_once(':').ok_or_else(error)?;
    let (name, value) = (name.trim(), value.trim());
    let value_ok = value.bytes().all(|b| b == b'\t' || (b >= b' ' && b != 0x7f));
    if name.is_empty() || !name.bytes().all(is_token_byte) || !value_ok {
        return Err(error());
    }
    Ok((name.to_owned(), value.to_owned()))
}

fn look_up(url: &Url) -> Result<Vec<SocketAddr>, TargetError> {
    let host = url.host_str().unwrap_or_default();
    let error = |problem: String| TargetError::Resolve { host: host.to_owned(), problem };
    let port = url.port_or_known_default().unwrap_or(80);
    // The resolver wants an IPv6 address without its brackets.
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let addresses: Vec<SocketAddr> = (bare, port).to_socket_addrs().map_err(|e| error(e.to_string()))?.collect();
    if addresses.is_empty() { Err(error("it has no address".into())) } else { Ok(addresses) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(method: &str, url: &str, headers: &[&str], body: &[u8]) -> Result<Target, TargetError> {
        let headers: Vec<String> = headers.iter().map(|h| h.to_string()).collect();
        Target::resolve(method.parse()?, url, &headers, body.to_vec())
    }

    #[test]
    fn a_plain_request() {
        let target = target("GET", "http://127.0.0.1:8080/a?b=c#d", &[], b"").unwrap();
        let text = String::from_utf8(target.http1_request(&[])).unwrap();
        assert!(text.starts_with("GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: truetail/"), "{text}");
        assert!(text.ends_with("Accept: */*\r\n\r\n"), "{text}");
    }

    #[test]
    fn headers_replace_defaults_and_a_body_has_its_length() {
        let target = target("post", "http://127.0.0.1/", &["host: example.test", "X-A:  b "], b"hello").unwrap();
        let text = String::from_utf8(target.http1_request(&[("truetail-preflight", "1")])).unwrap();
        assert_eq!(text.matches("ost: ").count(), 1);
        assert!(text.contains("host: example.test\r\n") && text.contains("X-A: b\r\n"));
        assert!(text.contains("Content-Length: 5\r\n") && text.ends_with("truetail-preflight: 1\r\n\r\nhello"));
    }

    #[test]
    fn ipv6_keeps_its_brackets_in_the_host() {
        let target = target("GET", "http://[::1]:81/", &[], b"").unwrap();
        assert_eq!(target.address().to_string(), "[::1]:81");
        assert!(String::from_utf8(target.http1_request(&[])).unwrap().contains("Host: [::1]:81\r\n"));
    }

    #[test]
    fn what_is_no_target() {
        for url in [
            "",
            "127.0.0.1:8080",
            "http://",
            "http://:80/",
            "http://127.0.0.1:99999/",
            "http://127.0.0.1:0/",
            "http://a b/",
        ] {
            assert!(matches!(target("GET", url, &[], b""), Err(TargetError::Url { .. })), "{url}");
        }
        assert!(matches!(target("GET", "http://u:p@127.0.0.1/", &[], b""), Err(TargetError::Url { .. })));
        assert!(matches!(target("GET", "ftp://127.0.0.1/", &[], b""), Err(TargetError::Scheme { .. })));
        assert!(matches!(target("GET", "http://no-such-host.invalid/", &[], b""), Err(TargetError::Resolve { .. })));
        assert!(matches!(target("G ET", "http://127.0.0.1/", &[], b""), Err(TargetError::Method(_))));
        assert!(matches!(target("CONNECT", "http://127.0.0.1/", &[], b""), Err(TargetError::Method(_))));
        for header in ["nocolon", ": v", "a b: c", "a: b\r\nc: d", "a: b\u{7f}"] {
            assert!(
                matches!(target("GET", "http://127.0.0.1/", &[header], b""), Err(TargetError::Header(_))),
                "{header}"
            );
        }
    }
}
