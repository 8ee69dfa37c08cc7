//! A request, and its parser.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::chunked;
use super::no_request::{NoRequest, TOO_LONG};

/// Maximum length of a head in bytes. Browsers send less than a thousand.
const LONGEST_HEAD: usize = 16 << 10;
const MAX_HEADERS: usize = 64;
/// First bytes of HTTP/2 without TLS.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n";
/// Time limit of a request, from its first byte to its last, and time limit of an idle connection.
pub(super) const REQUEST_TIME: Duration = Duration::from_secs(10);

/// A complete request.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Request {
    /// `GET`, `HEAD` or `POST`.
    pub method: String,
    /// Path without the query.
    pub path: String,
    /// Query after the question mark, not decoded; empty without one.
    pub query: String,
    /// Header fields, in order.
    pub headers: Vec<(String, String)>,
    /// Body, of at most [`super::Handler::longest_body`].
    pub body: Vec<u8>,
    /// True if the client may send another request on the same connection.
    pub(super) keeps_alive: bool,
}

impl Request {
    /// Returns the value of the first header of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Length of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BodyLength {
    Known(usize),
    /// It comes in chunks, and its end is marked.
    Chunked,
}

/// Reads one request with a body of at most `longest_body` bytes. `pending` holds bytes that came with the previous
/// request, and keeps bytes of the next one.
pub(super) fn read(stream: &TcpStream, pending: &mut Vec<u8>, longest_body: usize) -> Result<Request, NoRequest> {
    if pending.is_empty() {
        more(stream, pending, Instant::now() + REQUEST_TIME)?;
    }
    let deadline = Instant::now() + REQUEST_TIME;
    let (mut request, head, body) = loop {
        if let Some(parsed) = parse_head(pending, longest_body)? {
            break parsed;
        }
        if pending.len() > LONGEST_HEAD {
            return Err(NoRequest::Refused(431, "the head of the request is longer than 16 KiB"));
        }
        more(stream, pending, deadline)?;
    };
    pending.drain(..head);
    let mut more = |pending: &mut Vec<u8>| more(stream, pending, deadline);
    match body {
        BodyLength::Chunked => request.body = chunked::read(pending, longest_body, &mut more)?,
        BodyLength::Known(length) => {
            while pending.len() < length {
                more(pending)?;
            }
            let rest = pending.split_off(length);
            request.body = std::mem::replace(pending, rest);
        }
    }
    // A long body may have taken twice its length, and its connection may be kept long.
    request.body.shrink_to_fit();
    pending.shrink_to(LONGEST_HEAD);
    Ok(request)
}

/// Reads more bytes into `pending`.
fn more(mut stream: &TcpStream, pending: &mut Vec<u8>, deadline: Instant) -> Result<(), NoRequest> {
    let mut chunk = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(NoRequest::Gone);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk) {
            Ok(0) => return Err(NoRequest::Gone),
            Ok(read) => {
                pending.extend_from_slice(&chunk[..read]);
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Parses the head into a request without its body, the length of the head, and that of the body; `None` if incomplete.
fn parse_head(bytes: &[u8], longest_body: usize) -> Result<Option<(Request, usize, BodyLength)>, NoRequest> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut fields);
    let head = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(head)) if head <= LONGEST_HEAD => head,
        Ok(httparse::Status::Complete(_)) => {
            return Err(NoRequest::Refused(431, "the head of the request is longer than 16 KiB"));
        }
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(NoRequest::Refused(431, "too many header fields")),
        Err(_) if bytes.starts_with(HTTP2) => {
            return Err(NoRequest::Refused(505, "this is HTTP/2, as gRPC sends it; send HTTP/1.1"));
        }
        Err(_) => return Err(NoRequest::Refused(400, "this is no HTTP request")),
    };
    let text = |value: &[u8]| String::from_utf8(value.to_vec()).ok();
    let headers = parsed.headers.iter().map(|field| Some((field.name.to_owned(), text(field.value)?)));
    let headers: Option<Vec<_>> = headers.collect();
    let headers = headers.ok_or(NoRequest::Refused(400, "a header value is not UTF-8"))?;
    let target = parsed.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers,
        body: Vec::new(),
        keeps_alive: parsed.version == Some(1),
    };
    let close = request.header("connection").is_some_and(|value| value.to_ascii_lowercase().contains("close"));
    request.keeps_alive &= !close;
    let body = body_length(&request, longest_body)?;
    Ok(Some((request, head, body)))
}

fn body_length(request: &Request, longest: usize) -> Result<BodyLength, NoRequest> {
    let lengths = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut lengths = lengths.map(|(_, value)| value);
    if let Some(coding) = request.header("transfer-encoding") {
        // A length beside it would allow request smuggling.
        return match coding.eq_ignore_ascii_case("chunked") && lengths.next().is_none() {
            true => Ok(BodyLength::Chunked),
            false => Err(NoRequest::Refused(411, "send the body with a Content-Length, or in chunks")),
        };
    }
    let Some(length) = lengths.next() else { return Ok(BodyLength::Known(0)) };
    // Two lengths would allow request smuggling.
    let length = length.parse().ok().filter(|_| lengths.next().is_none() && length.bytes().all(|b| b.is_ascii_digit()));
    match length {
        Some(length) if length <= longest => Ok(BodyLength::Known(length)),
        Some(_) => Err(TOO_LONG),
        None => Err(NoRequest::Refused(400, "the Content-Length is no number")),
    }
}
