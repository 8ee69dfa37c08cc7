//! The request of a guided session, as it is sent.

use std::sync::LazyLock;

use truetail_engine::{
    HttpVersion, Method, Request, RequestParts, contradicts_framing, is_allowed_in_http2, is_header_value,
    without_credentials,
};
use truetail_model::time::Timestamp;
use url::{Position, Url};

use super::guide::GuidedRequest;
use super::plan::Asks;
use crate::cookies::CookieJar;
use crate::origins::Origins;
use crate::request::{is_name, write_jar};

/// Default headers that calls do not have.
static NOT_IN_CALLS: LazyLock<[String; 2]> = LazyLock::new(|| ["accept", "content-length"].map(str::to_owned));

/// Context for making a request.
#[derive(Debug)]
pub(super) struct Maker<'a> {
    pub(super) origins: &'a Origins,
    pub(super) asks: &'a Asks,
    pub(super) jar: &'a CookieJar,
    /// Its due time.
    pub(super) due: Timestamp,
}

/// A request that can be sent.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) request: RequestParts,
    pub(super) origin: u32,
    /// Its path and query as they are sent; empty for a message.
    pub(super) target: String,
}

impl Maker<'_> {
    /// Makes a request.
    ///
    /// # Errors
    /// The request is invalid; the error says why.
    pub(super) fn make(&self, asked: GuidedRequest) -> Result<Made, String> {
        if let Asks::Messages(_) = self.asks {
            return Ok(Made { request: RequestParts::message(asked.body), origin: 0, target: String::new() });
        }
        let (url, origin) = self.locate(&asked.path)?;
        let method: Method = asked.method.parse().map_err(|error| format!("{error}"))?;
        let target = url[Position::BeforePath..Position::AfterQuery].to_owned();
        let headers = self.headers(&asked.headers, origin, &target)?;
        let request = Request::new(method, url.as_str(), &headers, asked.body).map_err(|error| error.to_string())?;
        let request = match self.asks {
            Asks::Calls => request.without_default_headers(&*NOT_IN_CALLS),
            Asks::Http(_) | Asks::Messages(_) => request,
        };
        Ok(Made { request: request.parts(), origin, target })
    }

    /// Returns the URL of a path and the number of its origin.
    fn locate(&self, path: &str) -> Result<(Url, u32), String> {
        let is_url = path.starts_with("http://") || path.starts_with("https://");
        if !is_url && !path.starts_with('/') {
            return Err(format!("the path '{}' does not begin with a slash", without_credentials(path)));
        }
        let root = &self.origins.get(0).root[..Position::AfterPort];
        let url = if is_url { path.to_owned() } else { format!("{root}{path}") };
        let url = Url::parse(&url).map_err(|error| format!("the path '{}': {error}", without_credentials(path)))?;
        if url.username() != "" || url.password().is_some() {
            return Err("a URL has a user or a password; send the header Authorization".to_owned());
        }
        match self.origins.index_of(&url) {
            Some(origin) => Ok((url, origin)),
            None => Err(format!("{} is none of the origins of the run", &url[..Position::AfterPort])),
        }
    }

    /// Returns the header lines. The request's own cookies follow the session's cookies in one line.
    fn headers(&self, own: &[(String, String)], origin: u32, target: &str) -> Result<Vec<String>, String> {
        let mut jar = Vec::new();
        write_jar(self.jar, &self.origins.get(origin).site, target, self.due, &mut jar);
        let mut cookies = vec![String::from_utf8(jar).map_err(|_| "a cookie is no text".to_owned())?];
        let mut lines = Vec::new();
        for (name, value) in own {
            self.check(name, value)?;
            match name.eq_ignore_ascii_case("cookie") {
                true => cookies.push(value.clone()),
                false => lines.push(format!("{name}: {value}")),
            }
        }
        cookies.retain(|cookie| !cookie.is_empty());
        if !cookies.is_empty() {
            lines.push(format!("Cookie: {}", cookies.join("; ")));
        }
        Ok(lines)
    }

    fn check(&self, name: &str, value: &str) -> Result<(), String> {
        if !is_name(name.as_bytes()) || !is_header_value(value.as_bytes()) {
            return Err(format!("the header {name:?} has a character that cannot be sent"));
        }
        if let Some(problem) = contradicts_framing(name, value, None) {
            return Err(problem);
        }
        if *self.asks != Asks::Http(HttpVersion::Http1) && !is_allowed_in_http2(name.as_bytes(), value.as_bytes()) {
            return Err(format!("HTTP/2 does not allow the header {name}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origins::FlowOrigin;

    fn made(asked: GuidedRequest, is_http2: bool) -> Result<(String, String), String> {
        let first = Request::new(Method::Get, "http://127.0.0.1:8080/", &[], Vec::new()).unwrap();
        let other = Request::new(Method::Get, "https://api.test", &[], Vec::new()).unwrap();
        let mut origins = Origins::default();
        let mut jar = CookieJar::default();
        for request in [first, other] {
            origins.add(FlowOrigin::new(request.origin(), request.url().clone()));
        }
        jar.set(b"id=7; Path=/account", &origins.get(0).site, "/", Timestamp::ZERO);
        let asks = Asks::Http(if is_http2 { HttpVersion::Http2 } else { HttpVersion::Http1 });
        let maker = Maker { origins: &origins, asks: &asks, jar: &jar, due: Timestamp::ZERO };
        maker
            .make(asked)
            .map(|made| (String::from_utf8_lossy(made.request.view().http1_bytes()).into_owned(), made.target))
    }

    fn asked(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> GuidedRequest {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let method = method.to_owned();
        let path = path.to_owned();
        GuidedRequest { method, path, headers, body: body.into(), ..GuidedRequest::default() }
    }

    #[test]
    fn a_request_has_its_path_its_cookies_and_its_body() {
        let (bytes, target) =
            made(asked("post", "/account/a b?q={x}#top", &[("X-A", "1"), ("cookie", "own=2")], "hello"), false)
                .unwrap();
        assert_eq!(target, "/account/a%20b?q={x}");
        assert!(bytes.starts_with("POST /account/a%20b?q={x} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"), "{bytes}");
        assert!(bytes.contains("\r\nX-A: 1\r\nCookie: id=7; own=2\r\n") && bytes.ends_with("\r\n\r\nhello"), "{bytes}");
        assert!(bytes.contains("Content-Length: 5\r\n"));
        let (bytes, _) = made(asked("GET", "/other", &[("Cookie", "own=2")], ""), false).unwrap();
        assert!(bytes.contains("\r\nCookie: own=2\r\n") && !bytes.contains("id=7"), "{bytes}");
        let (bytes, target) = made(asked("GET", "//elsewhere/x", &[], ""), false).unwrap();
        assert!(bytes.contains("Host: 127.0.0.1:8080\r\n") && target == "//elsewhere/x", "{bytes}");
        let (bytes, target) = made(asked("GET", "https://API.test:443/account?a", &[], ""), false).unwrap();
        assert!(bytes.contains("Host: api.test\r\n") && !bytes.contains("id=7"), "{bytes}");
        assert_eq!(target, "/account?a");
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        for (wrong, why) in [
            (asked("GET", "account", &[], ""), "slash"),
            (asked("GET", "http://127.0.0.1:8081/", &[], ""), "http://127.0.0.1:8081 is none of the origins"),
            (asked("GET", "http://me:pw@127.0.0.1:8080/", &[], ""), "user or a password"),
            (asked("GET", "ftp://127.0.0.1:8080/", &[], ""), "slash"),
            (
                asked("GET", "http://me:pw@127.0.0.1:99999/", &[], ""),
                "the path 'http://127.0.0.1:99999/': invalid port",
            ),
            (asked("G ET", "/", &[], ""), "G ET"),
            (asked("GET", "/", &[("X-A", "1\r\nX-B: 2")], ""), "X-A"),
            (asked("GET", "/", &[("X-A: 1\r\nX-B", "2")], ""), "character"),
            (asked("GET", "/", &[("Content-Length", "9")], ""), "follows from the body"),
            (asked("GET", "/", &[("Upgrade", "h2c")], ""), "another protocol"),
        ] {
            let error = made(wrong, false).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        let closing = asked("GET", "/", &[("Connection", "close")], "");
        assert!(made(closing.clone(), false).is_ok());
        assert_eq!(made(closing, true).unwrap_err(), "HTTP/2 does not allow the header Connection");
    }
}
