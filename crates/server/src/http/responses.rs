//! Responses, prepared before the first request.

use truetail_model::service::{Fault, Service};

use super::Refusal;

const PATTERN: &[u8] = b"ok";
/// Size of the blocks of a body, so that memory need not hold a large body. A multiple of the pattern's length.
const BLOCK_BYTES: usize = 64 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// From the service or a health check, with a body of the service's size.
    Service(u16),
    /// From the server itself, without a body.
    Bare(u16),
    /// The head promises at least one byte more than will be sent.
    Short,
    /// Bytes that are not HTTP.
    Garbage,
    /// 100 Continue.
    Interim,
}

#[derive(Debug)]
struct Response {
    kind: Kind,
    keep_alive: bool,
    /// The head, and the body up to one block.
    bytes: Box<[u8]>,
    head_length: u64,
    total_length: u64,
}

/// Key of a response in [`Responses`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ResponseId(usize);

/// All answers that this server can give.
#[derive(Debug)]
pub(crate) struct Responses {
    responses: Vec<Response>,
    block: Box<[u8]>,
}

impl Responses {
    /// Prepares the answers of `service`.
    pub(crate) fn new(service: &Service) -> Responses {
        let block = PATTERN.repeat(BLOCK_BYTES / PATTERN.len()).into_boxed_slice();
        let mut made = Responses { responses: Vec::new(), block };
        let body_length = u64::from(service.body_bytes);
        for keep_alive in [true, false] {
            for status in statuses(service) {
                made.add(Kind::Service(status), keep_alive, &head(status, keep_alive, Some(body_length)), body_length);
            }
            for status in Refusal::ALL.map(Refusal::status) {
                made.add(Kind::Bare(status), keep_alive, &head(status, keep_alive, Some(0)), 0);
            }
            made.add(Kind::Bare(204), keep_alive, &head(204, keep_alive, None), 0);
            made.add(Kind::Bare(404), keep_alive, &head(404, keep_alive, Some(0)), 0);
            let promised = body_length.max(1);
            made.add(Kind::Short, keep_alive, &head(200, keep_alive, Some(promised)), promised / 2);
            made.add(Kind::Garbage, keep_alive, "\x15\x03garbage: this is not HTTP\r\n\r\n", 0);
            made.add(Kind::Interim, keep_alive, "HTTP/1.1 100 Continue\r\n\r\n", 0);
        }
        made
    }

    fn add(&mut self, kind: Kind, keep_alive: bool, head: &str, body_length: u64) {
        let in_first_block = body_length.min(BLOCK_BYTES as u64) as usize;
        let bytes = [head.as_bytes(), &self.block[..in_first_block]].concat().into_boxed_slice();
        let head_length = head.len() as u64;
        let total_length = head_length + body_length;
        self.responses.push(Response { kind, keep_alive, bytes, head_length, total_length });
    }

    fn find(&self, kind: Kind, keep_alive: bool) -> ResponseId {
        let found =
            self.responses.iter().position(|response| response.keep_alive == keep_alive && response.kind == kind);
        ResponseId(found.expect("every response the service can give was made in advance"))
    }

    /// Returns an answer of the service: 200, or the status of one of its faults.
    pub(crate) fn service(&self, status: u16, keep_alive: bool) -> ResponseId {
        self.find(Kind::Service(status), keep_alive)
    }

    /// Returns an answer of the server itself, without a body: 204, 404, or the status of a refusal.
    pub(crate) fn bare(&self, status: u16, keep_alive: bool) -> ResponseId {
        self.find(Kind::Bare(status), keep_alive)
    }

    /// Returns a head that promises more body than will be sent.
    pub(crate) fn short(&self, keep_alive: bool) -> ResponseId {
        self.find(Kind::Short, keep_alive)
    }

    /// Returns bytes that are not HTTP.
    pub(crate) fn garbage(&self) -> ResponseId {
        self.find(Kind::Garbage, true)
    }

    pub(crate) fn interim(&self) -> ResponseId {
        self.find(Kind::Interim, true)
    }

    /// Returns the length of the answer in bytes, or of only its head as the answer to HEAD.
    pub(crate) fn length(&self, id: ResponseId, head_only: bool) -> u64 {
        let response = &self.responses[id.0];
        if head_only { response.head_length } else { response.total_length }
    }

    /// Returns the length of the first part of an answer that is cut in two, out of its first `length` bytes. The first
    /// part is the head and half of the body; without a body, it is the head without its final empty line.
    pub(crate) fn first_part(&self, id: ResponseId, length: u64) -> u64 {
        let head = self.responses[id.0].head_length;
        if length > head { head + (length - head) / 2 } else { length.saturating_sub(2) }
    }

    /// Returns at least one byte from `from` on, and none at or after `to`. Requires `from < to ≤` the answer's length.
    pub(crate) fn piece(&self, id: ResponseId, from: u64, to: u64) -> &[u8] {
        let response = &self.responses[id.0];
        let ready = response.bytes.len() as u64;
        if from < ready {
            return &response.bytes[from as usize..to.min(ready) as usize];
        }
        let start = ((from - response.head_length) % BLOCK_BYTES as u64) as usize;
        let length = (to - from).min((BLOCK_BYTES - start) as u64) as usize;
        &self.block[start..start + length]
    }
}

/// Returns every status of the service: 200, and the statuses of its faults.
fn statuses(service: &Service) -> Vec<u16> {
    let mut statuses = vec![200];
    for status in service.all_faults().filter_map(Fault::status) {
        if !statuses.contains(&status) {
            statuses.push(status);
        }
    }
    statuses
}

fn head(status: u16, keep_alive: bool, body_length: Option<u64>) -> String {
    let connection = if keep_alive { "keep-alive" } else { "close" };
    let length = body_length.map_or(String::new(), |length| format!("Content-Length: {length}\r\n"));
    let kind = if body_length.is_some_and(|length| length > 0) { "Content-Type: text/plain\r\n" } else { "" };
    let allow = if status == Refusal::MethodNotAllowed.status() { "Allow: POST\r\n" } else { "" };
    let reason = reason(status);
    format!("HTTP/1.1 {status} {reason}\r\nServer: truetail\r\n{allow}{kind}{length}Connection: {connection}\r\n\r\n")
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ if status < 500 => "Client Error",
        _ => "Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truetail_model::service::Selector;
    use truetail_model::time::Nanos;

    fn responses(body_bytes: u32) -> Responses {
        let fault = |status| Fault::ErrorStatus { status, immediately: true, select: Selector::default() };
        let faults = vec![fault(503), fault(405), fault(503)];
        Responses::new(&Service { body_bytes, faults, ..Service::healthy(Nanos::ZERO) })
    }

    fn bytes(responses: &Responses, id: ResponseId, head_only: bool) -> Vec<u8> {
        let mut all = Vec::new();
        let length = responses.length(id, head_only);
        while (all.len() as u64) < length {
            all.extend_from_slice(responses.piece(id, all.len() as u64, length));
        }
        all
    }

    #[test]
    fn an_answer_is_as_long_as_it_says() {
        for body_bytes in [0, 1, 2, 65_535, 65_536, 65_537, 300_001] {
            let responses = responses(body_bytes);
            for status in [200, 405, 503] {
                let whole = bytes(&responses, responses.service(status, true), false);
                let text = String::from_utf8(whole).unwrap();
                let (head, body) = text.split_once("\r\n\r\n").unwrap();
                assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
                assert!(head.contains(&format!("\r\nContent-Length: {body_bytes}\r\n")), "{head}");
                assert_eq!(body, &"ok".repeat(body_bytes as usize / 2 + 1)[..body_bytes as usize]);
                let alone = bytes(&responses, responses.service(status, true), true);
                assert_eq!(alone, format!("{head}\r\n\r\n").into_bytes());
            }
        }
    }

    #[test]
    fn a_short_body_is_always_short() {
        for body_bytes in [0, 1, 2, 1000] {
            let responses = responses(body_bytes);
            let text = String::from_utf8(bytes(&responses, responses.short(true), false)).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            let promised: usize =
                head.split("Content-Length: ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
            assert!(body.len() < promised, "{text}");
        }
    }

    #[test]
    fn both_parts_of_a_slow_body_have_bytes() {
        for (body_bytes, head_only) in [(0, false), (1, false), (2, false), (1000, false), (1000, true)] {
            let responses = responses(body_bytes);
            let id = responses.service(200, false);
            let length = responses.length(id, head_only);
            let first = responses.first_part(id, length);
            assert!(first > 0 && first < length, "{body_bytes} {head_only}");
        }
    }

    #[test]
    fn garbage_is_no_http() {
        let responses = responses(2);
        let garbage = bytes(&responses, responses.garbage(), false);
        let mut fields = [httparse::EMPTY_HEADER; 8];
        assert!(httparse::Response::new(&mut fields).parse(&garbage).is_err());
    }
}
