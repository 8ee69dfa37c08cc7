//! The head of a request.

use std::mem::MaybeUninit;

use httparse::{Header, Request, Status};
use truetail_model::service::{ABOUT_MODEL_PATHS, SGLANG_PATH, StreamDescription, StreamFormat};

use super::page::RequestOrigin;
use super::{Body, Refusal};
use crate::messages::Upgrade;
use crate::response_form::Framing;
use crate::stream::parse_query;

/// Maximum length of a head. Longer heads are refused.
const MAX_HEAD_BYTES: usize = 32 * 1024;
/// Maximum number of fields. Heads with more fields are refused.
const MAX_FIELDS: usize = 100;

/// Purpose of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Route {
    /// The service, with its faults.
    Service,
    /// The service, with this stream as its answer.
    Stream(StreamDescription),
    /// The service, with the answer of a language model in this format.
    Model(StreamFormat),
    /// A health check in the form of a request to a model: its answer has this format.
    ModelPreflight(StreamFormat),
    /// Preliminary questions of clients of models: a health check if the service's answers are streams, else the
    /// service.
    AboutModel,
    /// A question that only sglang's server would answer.
    AboutSglang,
    Health,
    StartClock,
    /// A request that is refused without closing the connection.
    Refused(Refusal),
}

#[derive(Debug)]
pub(crate) struct RequestHead<'a> {
    /// Length in bytes, with the empty line.
    pub(crate) length: usize,
    pub(crate) route: Route,
    pub(crate) path: &'a str,
    /// True if the method is HEAD, so that the answer has no body.
    pub(crate) is_head: bool,
    pub(crate) keep_alive: bool,
    /// Framing of an answer of unknown length.
    pub(crate) framing: Framing,
    /// True if the client waits for an interim answer before it sends the body.
    pub(crate) expects_continue: bool,
    /// The client asks for WebSocket, in version 13 and without a body.
    pub(crate) upgrade: Option<Upgrade>,
    pub(crate) body: Body,
}

/// Parses the head at the start of `bytes`; `None` if it is not complete yet.
pub(crate) fn parse_head(bytes: &[u8]) -> Result<Option<RequestHead<'_>>, Refusal> {
    let mut fields = [MaybeUninit::<Header<'_>>::uninit(); MAX_FIELDS];
    let mut request = Request::new(&mut []);
    let length = match request.parse_with_uninit_headers(bytes, &mut fields) {
        Ok(Status::Complete(length)) if length <= MAX_HEAD_BYTES => length,
        Ok(Status::Partial) if bytes.len() <= MAX_HEAD_BYTES => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Refusal::TooLarge),
        Err(_) => return Err(Refusal::Malformed),
    };
    let facts = HeaderFields::read(request.headers)?;
    let is_http_1_1 = request.version == Some(1);
    let body = facts.body(is_http_1_1)?;
    Ok(Some(RequestHead {
        length,
        route: route(request.method.unwrap_or(""), request.path.unwrap_or("/"), facts.preflight, facts.page),
        path: path(request.path.unwrap_or("/")),
        is_head: request.method == Some("HEAD"),
        keep_alive: if is_http_1_1 { !facts.close } else { facts.keep_alive && !facts.close },
        framing: if is_http_1_1 { Framing::Chunks } else { Framing::Connection },
        expects_continue: is_http_1_1 && facts.expects_continue && !body.is_over(),
        upgrade: facts.upgrade().filter(|_| is_http_1_1 && request.method == Some("GET") && body.is_over()),
        body,
    }))
}

/// Returns true if `bytes` may contain a whole head, given that the first `scanned` bytes contain none. Without this
/// check, the same bytes would be parsed again for every byte of a client that sends single bytes.
pub(crate) fn may_contain_head(bytes: &[u8], scanned: usize) -> bool {
    scanned == 0 || bytes.len() > MAX_HEAD_BYTES || has_empty_line(&bytes[scanned.saturating_sub(3)..])
}

fn has_empty_line(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\n\n") || bytes.windows(3).any(|three| three == b"\n\r\n")
}

/// Returns the purpose of a request. `preflight` is true if it has the header of preflights.
pub(crate) fn route(method: &str, target: &str, preflight: bool, page: RequestOrigin<'_>) -> Route {
    match path(target) {
        "/clock" if page.is_foreign() => Route::Refused(Refusal::ForeignPage),
        "/clock" if method == "POST" => Route::StartClock,
        "/clock" => Route::Refused(Refusal::MethodNotAllowed),
        "/healthy" => Route::Health,
        path if preflight => match StreamFormat::for_path(path) {
            StreamFormat::Plain => Route::Health,
            format => Route::ModelPreflight(format),
        },
        SGLANG_PATH => Route::AboutSglang,
        path if ABOUT_MODEL_PATHS.contains(&path) => Route::AboutModel,
        "/stream" => parse_query(query(target)).map_or(Route::Refused(Refusal::Malformed), Route::Stream),
        path => match StreamFormat::for_path(path) {
            StreamFormat::Plain => Route::Service,
            format => Route::Model(format),
        },
    }
}

impl Route {
    /// Returns true if the body of the request decides about its answer.
    pub(crate) fn reads_body(self) -> bool {
        matches!(self, Route::Model(_) | Route::ModelPreflight(_))
    }
}

/// Returns the path of a target, which may have a query, or a scheme and authority as sent to proxies.
pub(crate) fn path(target: &str) -> &str {
    let path = match target.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => rest.find('/').map_or("/", |slash| &rest[slash..]),
        _ => target,
    };
    path.split(['?', '#']).next().unwrap_or(path)
}

/// Returns the query of a target without its fragment; empty if there is no query.
fn query(target: &str) -> &str {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    query.split('#').next().unwrap_or(query)
}

#[derive(Default)]
struct HeaderFields<'a> {
    page: RequestOrigin<'a>,
    close: bool,
    keep_alive: bool,
    preflight: bool,
    expects_continue: bool,
    content_length: Option<u64>,
    coded: bool,
    chunked: bool,
    websocket: WebSocketFields<'a>,
}

#[derive(Default)]
struct WebSocketFields<'a> {
    is_asked: bool,
    is_connection: bool,
    is_version_13: bool,
    key: Option<&'a [u8]>,
    protocols: Option<&'a [u8]>,
}

impl<'a> HeaderFields<'a> {
    fn read(fields: &[Header<'a>]) -> Result<HeaderFields<'a>, Refusal> {
        let mut read = HeaderFields::default();
        for field in fields {
            read.add(field)?;
        }
        Ok(read)
    }

    fn add(&mut self, field: &Header<'a>) -> Result<(), Refusal> {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        // The length of the name excludes most fields, so that a usual head costs few comparisons.
        match field.name.len() {
            4 if is("host") => self.page.host = field.value,
            6 if is("origin") => self.page.origin = Some(field.value),
            7 if is("upgrade") => self.websocket.is_asked |= has_token(field.value, "websocket"),
            17 if is("sec-websocket-key") => self.websocket.key = Some(field.value),
            21 if is("sec-websocket-version") => self.websocket.is_version_13 = field.value.trim_ascii() == b"13",
            22 if is("sec-websocket-protocol") => self.websocket.protocols = Some(field.value),
            6 if is("expect") => self.expects_continue |= has_token(field.value, "100-continue"),
            10 if is("connection") => {
                self.close |= has_token(field.value, "close");
                self.keep_alive |= has_token(field.value, "keep-alive");
                self.websocket.is_connection |= has_token(field.value, "upgrade");
            }
            14 if is("sec-fetch-site") => self.page.fetch_site = Some(field.value),
            14 if is("content-length") => {
                let length = parse_length(field.value)?;
                if self.content_length.replace(length).is_some_and(|earlier| earlier != length) {
                    return Err(Refusal::Malformed);
                }
            }
            17 if is("transfer-encoding") => {
                self.coded = true;
                self.chunked = tokens(field.value).last().is_some_and(|last| last.eq_ignore_ascii_case("chunked"));
            }
            18 if is("truetail-preflight") => self.preflight = true,
            _ => {}
        }
        Ok(())
    }

    /// Returns the client's request for WebSocket (RFC 6455, section 4.2.1).
    fn upgrade(&self) -> Option<Upgrade> {
        let fields = &self.websocket;
        let key = fields.key.and_then(|key| std::str::from_utf8(key).ok()).map(str::trim);
        let key = key.filter(|_| fields.is_asked && fields.is_connection && fields.is_version_13)?;
        let protocol = fields.protocols.and_then(|offered| tokens(offered).next()).map(str::to_owned);
        Some(Upgrade { key: key.to_owned(), protocol })
    }

    /// Returns the body. Fails if its length is contradictory or unknown (RFC 9112, section 6.3).
    fn body(&self, is_http_1_1: bool) -> Result<Body, Refusal> {
        match (self.coded, self.content_length) {
            (false, length) => Ok(Body::with_length(length.unwrap_or(0))),
            (true, None) if self.chunked && is_http_1_1 => Ok(Body::chunked()),
            (true, _) => Err(Refusal::Malformed),
        }
    }
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &str> {
    std::str::from_utf8(value).unwrap_or("").split(',').map(str::trim)
}

fn has_token(value: &[u8], token: &str) -> bool {
    tokens(value).any(|found| found.eq_ignore_ascii_case(token))
}

fn parse_length(value: &[u8]) -> Result<u64, Refusal> {
    let text = std::str::from_utf8(value).map_err(|_| Refusal::Malformed)?.trim();
    let only_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| only_digits).ok_or(Refusal::Malformed)
}

#[cfg(test)]
mod tests {
    use truetail_model::service::CONTROL_PATHS;

    use super::*;

    fn parsed(text: &str) -> RequestHead<'_> {
        parse_head(text.as_bytes()).unwrap().expect("complete")
    }

    fn refusal(text: &str) -> Refusal {
        parse_head(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn routes() {
        for (line, route) in [
            ("GET /api", Route::Service),
            ("GET /", Route::Service),
            ("POST /clockwork", Route::Service),
            ("GET /healthy/not", Route::Service),
            ("OPTIONS *", Route::Service),
            ("GET /a://healthy", Route::Service),
            ("GET /healthy", Route::Health),
            ("GET /v1/models?limit=1", Route::AboutModel),
            ("GET /get_server_info", Route::AboutSglang),
            ("HEAD /healthy?x=1", Route::Health),
            ("GET http://127.0.0.1:80/healthy", Route::Health),
            ("GET http://127.0.0.1:80", Route::Service),
            ("POST /clock", Route::StartClock),
            ("GET /clock", Route::Refused(Refusal::MethodNotAllowed)),
        ] {
            assert_eq!(parsed(&format!("{line} HTTP/1.1\r\n\r\n")).route, route, "{line}");
        }
        for path in CONTROL_PATHS {
            assert_ne!(parsed(&format!("GET {path} HTTP/1.1\r\n\r\n")).route, Route::Service, "{path}");
        }
        assert_eq!(parsed("GET /api HTTP/1.1\r\nTrueTail-Preflight: 1\r\n\r\n").route, Route::Health);
        assert_eq!(parsed("GET http://127.0.0.1:80/login?a=b HTTP/1.1\r\n\r\n").path, "/login");
    }

    #[test]
    fn the_clock_is_not_started_by_foreign_pages() {
        for (fields, started) in [
            ("Host: server.example", true),
            ("Host: localhost:80\r\nOrigin: http://localhost:80\r\nSec-Fetch-Site: same-origin", true),
            ("Host: localhost:80\r\norigin: http://evil.example", false),
            ("Host: evil.example\r\nOrigin: http://evil.example\r\nSec-Fetch-Site: same-origin", false),
            ("Host: localhost\r\nSec-Fetch-Site: cross-site", false),
        ] {
            let wanted = if started { Route::StartClock } else { Route::Refused(Refusal::ForeignPage) };
            assert_eq!(parsed(&format!("POST /clock HTTP/1.1\r\n{fields}\r\n\r\n")).route, wanted, "{fields}");
        }
        assert_eq!(parsed("GET /api HTTP/1.1\r\nOrigin: http://evil.example\r\n\r\n").route, Route::Service);
    }

    #[test]
    fn who_closes() {
        for (version, field, keep_alive) in [
            ("1.1", "", true),
            ("1.1", "Connection: close\r\n", false),
            ("1.1", "connection: Upgrade, CLOSE\r\n", false),
            ("1.0", "", false),
            ("1.0", "Connection: Keep-Alive\r\n", true),
            ("1.0", "Connection: keep-alive, close\r\n", false),
        ] {
            let text = format!("GET / HTTP/{version}\r\n{field}\r\n");
            assert_eq!(parsed(&text).keep_alive, keep_alive, "{text:?}");
        }
    }

    #[test]
    fn what_is_refused() {
        for text in [
            "hello\r\n\r\n",
            "GET / HTTP/3.0\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "\x16\x03\x01\x02\x00",
            "POST / HTTP/1.1\r\nContent-Length: five\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        ] {
            assert_eq!(refusal(text), Refusal::Malformed, "{text:?}");
        }
        let long = "x".repeat(MAX_HEAD_BYTES);
        assert_eq!(refusal(&format!("GET / HTTP/1.1\r\nX: {long}")), Refusal::TooLarge);
        assert_eq!(refusal(&format!("GET / HTTP/1.1\r\nX: {long}\r\n\r\n")), Refusal::TooLarge);
        let many = "a: b\r\n".repeat(MAX_FIELDS + 1);
        assert_eq!(refusal(&format!("GET / HTTP/1.1\r\n{many}\r\n")), Refusal::TooLarge);
    }

    #[test]
    fn a_head_that_is_not_there_yet() {
        let text = b"POST /api HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
        let length = text.len() - 3;
        for end in 0..length {
            assert!(parse_head(&text[..end]).unwrap().is_none(), "{end}");
        }
        let head = parse_head(text).unwrap().unwrap();
        assert_eq!(head.length, length);
        assert!(!head.body.is_over());
    }

    #[test]
    fn an_interim_answer_is_for_a_body_only() {
        let expects =
            |rest: &str| parsed(&format!("POST / HTTP/1.1\r\nExpect: 100-continue\r\n{rest}\r\n")).expects_continue;
        assert!(expects("Content-Length: 5\r\n"));
        assert!(expects("Transfer-Encoding: chunked\r\n"));
        assert!(!expects("Content-Length: 0\r\n"));
        assert!(!expects(""));
    }
}
