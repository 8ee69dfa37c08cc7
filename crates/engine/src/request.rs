//! One request: method, URL, headers and body, and the bytes that they make.

use std::fmt;
use std::str::FromStr;

use url::Url;

use crate::target::TargetError;

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

/// May these bytes stand in the value of a header? All but control characters, of which the tab may.
pub fn is_header_value(value: &[u8]) -> bool {
    value.iter().all(|b| *b == b'\t' || (*b >= b' ' && *b != 0x7f))
}

/// Whom a request is for: what must be the same for all requests that share connections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// `http` or `https`.
    pub scheme: String,
    /// A name or an address; IPv6 in brackets.
    pub host: String,
    /// The scheme's own where the URL names none.
    pub port: u16,
}

impl Origin {
    /// Connections are to be secured by TLS.
    pub fn is_https(&self) -> bool {
        self.scheme == "https"
    }

    /// The port is the one that the scheme has of itself.
    pub fn has_default_port(&self) -> bool {
        self.port == if self.is_https() { 443 } else { 80 }
    }

    /// The host as addresses are written, without brackets.
    pub fn bare_host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }
}

/// `http://HOST`, and `:PORT` where it is not the scheme's own.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        if self.has_default_port() { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

/// One request, before it is bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    method: Method,
    url: Url,
    headers: Vec<(String, String)>,
    left_out: Vec<String>,
    body: Vec<u8>,
}

impl Request {
    /// Reads the URL and the headers. `headers` are `Name: value` lines and replace the defaults of the same name
    /// (`Host`, `User-Agent`, `Accept`, `Content-Length`).
    ///
    /// # Errors
    /// [`TargetError`], but never that a host does not resolve: nothing is looked up.
    pub fn new(method: Method, url: &str, headers: &[String], body: Vec<u8>) -> Result<Request, TargetError> {
        let url = parse_url(url)?;
        let headers = headers.iter().map(|line| parse_header(line)).collect::<Result<Vec<_>, _>>()?;
        Ok(Request { url, method, headers, left_out: Vec::new(), body })
    }

    /// The same without these default headers.
    pub fn without_default_headers(mut self, names: &[String]) -> Request {
        self.left_out = names.to_vec();
        self
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The URL.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Whom it is for.
    pub fn origin(&self) -> Origin {
        Origin {
            scheme: self.url.scheme().to_owned(),
            host: self.url.host_str().unwrap_or_default().to_owned(),
            port: self.url.port_or_known_default().unwrap_or(80),
        }
    }

    /// All of it in HTTP/1.1.
    pub fn http1_bytes(&self) -> Vec<u8> {
        let mut request = self.http1_head(&self.body.len()).into_bytes();
        request.extend_from_slice(&self.body);
        request
    }

    /// The head in HTTP/1.1 with the empty line that ends it; `length` is what stands for the length of the body.
    pub fn http1_head(&self, length: &dyn fmt::Display) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method.as_str(), self.path_and_query());
        let mut put = |name: &str, value: &dyn fmt::Display| head.push_str(&format!("{name}: {value}\r\n"));
        if self.has_default("host") {
            put("Host", &self.host_header());
        }
        if self.has_default("user-agent") {
            put("User-Agent", &concat!("truetail/", env!("CARGO_PKG_VERSION")));
        }
        if self.has_default("accept") {
            put("Accept", &"*/*");
        }
        if self.has_default("content-length") && !self.gives("transfer-encoding") && self.sends_length() {
            put("Content-Length", length);
        }
        self.headers.iter().for_each(|(name, value)| put(name, value));
        head.push_str("\r\n");
        head
    }

    fn has_default(&self, name: &str) -> bool {
        !self.gives(name) && !self.left_out.iter().any(|left_out| left_out.eq_ignore_ascii_case(name))
    }

    fn gives(&self, name: &str) -> bool {
        self.headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name))
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
    if !matches!(url.scheme(), "http" | "https") {
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
    if name.is_empty() || !name.bytes().all(is_token_byte) || !is_header_value(value.as_bytes()) {
        return Err(error());
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, url: &str, headers: &[&str], body: &[u8]) -> Result<Request, TargetError> {
        let headers: Vec<String> = headers.iter().map(|h| h.to_string()).collect();
        Request::new(method.parse()?, url, &headers, body.to_vec())
    }

    fn text(request: &Request) -> String {
        String::from_utf8(request.http1_bytes()).unwrap()
    }

    #[test]
    fn a_plain_request() {
        let text = text(&request("GET", "http://127.0.0.1:8080/a?b=c#d", &[], b"").unwrap());
        assert!(text.starts_with("GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: truetail/"), "{text}");
        assert!(text.ends_with("Accept: */*\r\n\r\n"), "{text}");
    }

    #[test]
    fn headers_replace_defaults_and_a_body_has_its_length() {
        let text = text(&request("post", "http://127.0.0.1/", &["host: example.test", "X-A:  b "], b"hello").unwrap());
        assert_eq!(text.matches("ost: ").count(), 1);
        assert!(text.contains("host: example.test\r\n") && text.contains("X-A: b\r\n"));
        assert!(text.contains("Content-Length: 5\r\n") && text.ends_with("\r\n\r\nhello"));
    }

    #[test]
    fn defaults_can_be_left_out() {
        let bare = request("GET", "http://127.0.0.1/", &[], b"").unwrap();
        let bare = bare.without_default_headers(&["ACCEPT".to_owned(), "user-agent".to_owned()]);
        assert_eq!(text(&bare), "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    }

    #[test]
    fn ipv6_keeps_its_brackets_in_the_host() {
        let request = request("GET", "http://[::1]:81/", &[], b"").unwrap();
        assert!(text(&request).contains("Host: [::1]:81\r\n"));
        let origin = request.origin();
        assert_eq!((origin.to_string().as_str(), origin.bare_host()), ("http://[::1]:81", "::1"));
    }

    #[test]
    fn what_is_no_request() {
        for url in [
            "",
            "127.0.0.1:8080",
            "http://",
            "http://:80/",
            "http://127.0.0.1:99999/",
            "http://127.0.0.1:0/",
            "http://a b/",
        ] {
            assert!(matches!(request("GET", url, &[], b""), Err(TargetError::Url { .. })), "{url}");
        }
        assert!(matches!(request("GET", "http://u:p@127.0.0.1/", &[], b""), Err(TargetError::Url { .. })));
        assert!(matches!(request("GET", "ftp://127.0.0.1/", &[], b""), Err(TargetError::Scheme { .. })));
        assert!(matches!(request("G ET", "http://127.0.0.1/", &[], b""), Err(TargetError::Method(_))));
        assert!(matches!(request("CONNECT", "http://127.0.0.1/", &[], b""), Err(TargetError::Method(_))));
        for header in ["nocolon", ": v", "a b: c", "a: b\r\nc: d", "a: b\u{7f}"] {
            let refused = request("GET", "http://127.0.0.1/", &[header], b"");
            assert!(matches!(refused, Err(TargetError::Header(_))), "{header}");
        }
    }
}
