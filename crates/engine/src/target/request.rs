//! One request: method, URL, headers and body.

use url::{Position, Url};

use super::credentials::without_credentials;
use super::error::TargetError;
use super::framing::contradicts_framing;
use super::method::{Method, is_token};
use super::origin::Origin;
use super::request_parts::RequestParts;

/// Returns true if these bytes can be a header value: they contain no control character except the tab.
pub fn is_header_value(value: &[u8]) -> bool {
    value.iter().all(|b| *b == b'\t' || (*b >= b' ' && *b != 0x7f))
}

/// An HTTP request: method, URL, header fields and body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    method: Method,
    url: Url,
    headers: Vec<(String, String)>,
    /// Names of default headers that are not sent.
    left_out: Vec<String>,
    body: Vec<u8>,
}

impl Request {
    /// Reads the URL and the headers, without looking up the host. `headers` are `Name: value` lines and replace the
    /// defaults of the same name (`Host`, `User-Agent`, `Accept`, `Content-Length`).
    ///
    /// # Errors
    /// [`TargetError::Url`], [`TargetError::Scheme`], [`TargetError::Header`] and [`TargetError::Framing`].
    pub fn new(method: Method, url: &str, headers: &[String], body: Vec<u8>) -> Result<Request, TargetError> {
        let url = parse_url(url)?;
        let headers = headers.iter().map(|line| parse_header(line)).collect::<Result<Vec<_>, _>>()?;
        let contradiction = headers.iter().find_map(|(name, value)| contradicts_framing(name, value, Some(body.len())));
        if let Some(problem) = contradiction.or_else(|| two_lengths(&headers)) {
            return Err(TargetError::Framing(problem));
        }
        Ok(Request { url, method, headers, left_out: Vec::new(), body })
    }

    /// Returns the request without the default headers of these names.
    pub fn without_default_headers(mut self, names: &[String]) -> Request {
        self.left_out = names.to_vec();
        self
    }

    /// Returns the method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the URL.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the server of the request.
    pub fn origin(&self) -> Origin {
        Origin::from_url(&self.url)
    }

    /// Returns its parts, with default headers.
    pub fn parts(&self) -> RequestParts {
        self.parts_with_length(&self.body.len().to_string())
    }

    /// Returns its parts, with this text as the length of the body.
    pub fn parts_with_length(&self, content_length: &str) -> RequestParts {
        let mut parts = RequestParts::default();
        parts.begin(self.method.as_str().as_bytes());
        parts.buffer().extend_from_slice(self.url[Position::BeforePath..Position::AfterQuery].as_bytes());
        parts.end_path();
        let mut put = |name: &str, value: &str| parts.field(name.as_bytes(), value.as_bytes());
        if self.has_default("host") {
            put("Host", &self.url[Position::BeforeHost..Position::AfterPort]);
        }
        if self.has_default("user-agent") {
            put("User-Agent", concat!("truetail/", env!("CARGO_PKG_VERSION")));
        }
        if self.has_default("accept") {
            put("Accept", "*/*");
        }
        if self.has_default("content-length") && self.sends_length() {
            put("Content-Length", content_length);
        }
        self.headers.iter().for_each(|(name, value)| put(name, value));
        parts.end_head(&self.body);
        parts
    }

    fn has_default(&self, name: &str) -> bool {
        !self.has_header(name) && !self.left_out.iter().any(|left_out| left_out.eq_ignore_ascii_case(name))
    }

    fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name))
    }

    /// Returns true if the request has a body, or if its method usually has one (RFC 9110, section 8.6).
    fn sends_length(&self) -> bool {
        !self.body.is_empty() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH")
    }
}

/// Returns an error if the length is given twice (RFC 9110, section 8.6).
fn two_lengths(headers: &[(String, String)]) -> Option<String> {
    let mut lengths = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let second = lengths.nth(1);
    second.map(|(name, _)| format!("'{name}' is given twice; leave it out, and truetail sends the length"))
}

pub(super) fn parse_url(text: &str) -> Result<Url, TargetError> {
    let error = |problem: String| TargetError::Url { url: without_credentials(text).into_owned(), problem };
    if !text.contains("://") {
        return Err(error("it has no scheme".into()));
    }
    let mut url = Url::parse(text).map_err(|e| error(e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = url.scheme().to_owned();
        return Err(TargetError::Scheme { url: without_credentials(text).into_owned(), scheme });
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(error("it has no host".into()));
    }
    if url.port() == Some(0) {
        return Err(error("port 0 does not exist".into()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        // Neither call fails, because the URL has a host.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        let problem = "user name and password are not part of a request; send -H 'Authorization: …'".to_owned();
        return Err(TargetError::Url { url: url.to_string(), problem });
    }
    Ok(url)
}

/// Returns the first word of a line, and a sign if there is more. The rest may be a secret.
fn first_word(line: &str) -> String {
    match line.trim().split_once(char::is_whitespace) {
        Some((first, _)) => format!("{first} …"),
        None => line.trim().to_owned(),
    }
}

fn parse_header(line: &str) -> Result<(String, String), TargetError> {
    let parts = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
    match parts {
        Some((name, value)) if is_token(name) && is_header_value(value.as_bytes()) => Ok((name.into(), value.into())),
        _ => Err(TargetError::Header(first_word(line))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, url: &str, headers: &[&str], body: &[u8]) -> Result<Request, TargetError> {
        let headers: Vec<String> = headers.iter().map(|h| h.to_string()).collect();
        Request::new(method.parse()?, url, &headers, body.to_vec())
    }

    fn text(request: &Request) -> String {
        String::from_utf8(request.parts().view().http1_bytes().to_vec()).unwrap()
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
        for url in ["http://u:secret@127.0.0.1/", "http:\t//u:secret@127.0.0.1/", "u:secret@a", "ftp://u:secret@a"] {
            let error = request("GET", url, &[], b"").unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(matches!(request("GET", "ftp://127.0.0.1/", &[], b""), Err(TargetError::Scheme { .. })));
        assert!(matches!(request("G ET", "http://127.0.0.1/", &[], b""), Err(TargetError::Method(_))));
        assert!(matches!(request("CONNECT", "http://127.0.0.1/", &[], b""), Err(TargetError::Method(_))));
        for headers in [&["Content-Length: 5"][..], &["Content-Length: 0", "content-length: 0"], &["Upgrade: h2c"]] {
            assert!(matches!(request("GET", "http://127.0.0.1/", headers, b""), Err(TargetError::Framing(_))));
        }
        assert!(
            text(&request("POST", "http://127.0.0.1/", &["Content-Length: 2"], b"ok").unwrap())
                .ends_with(": 2\r\n\r\nok")
        );
        for header in ["nocolon", ": v", "a b: c", "a: b\r\nc: d", "a: b\u{7f}"] {
            let refused = request("GET", "http://127.0.0.1/", &[header], b"");
            assert!(matches!(refused, Err(TargetError::Header(_))), "{header}");
        }
    }
}
