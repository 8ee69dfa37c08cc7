//! A connection in HTTP/1. It reads requests, queues an exchange for each, and sends due answers in order.

use std::io::ErrorKind;

use truetail_model::service::RouteId;
use truetail_model::time::Timestamp;

use crate::answer_queue::AnswerQueue;
use crate::close_reason::CloseReason;
use crate::exchange::ServerExchange;
use crate::http::{Body, Refusal, RequestHead, may_contain_head, parse_head};
use crate::messages::{MessageConnection, Upgrade};
use crate::response_form::ResponseForm;
use crate::shared_state::SharedState;
use crate::stream::MAX_BODY_BYTES;

/// Reads of one connection per turn.
const READS_PER_TURN: usize = 8;

/// First line of the preface of HTTP/2 (RFC 9113, section 3.4).
#[cfg(feature = "http2")]
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n";

/// Kind of the next bytes.
#[derive(Debug)]
enum ReadState {
    /// The head of a request.
    Head,
    /// The body of the last exchange's request, `kept` if the service needs it. If `is_last`, no other request follows.
    Body { body: Body, is_last: bool, kept: Option<Vec<u8>> },
    /// Bytes to ignore: no further request is answered.
    Nothing,
    /// Messages in WebSocket for a route of the service, which this type does not read.
    WebSocket(Upgrade, RouteId),
    /// HTTP/2, which this type does not read.
    #[cfg(feature = "http2")]
    Http2,
}

#[derive(Debug)]
pub(crate) struct Http1Connection {
    pub(crate) answers: AnswerQueue,
    reading: ReadState,
    /// Bytes that were read but not parsed: a part of a head, or requests that must wait for room.
    input: Vec<u8>,
    /// Number of bytes of `input` that are known to contain no whole head.
    scanned: usize,
    /// Time limit of the incomplete head.
    head_deadline: Option<Timestamp>,
    /// True if reading stopped because there was no room for more requests, so that bytes may wait.
    unread: bool,
}

impl Http1Connection {
    pub(crate) fn new(answers: AnswerQueue) -> Http1Connection {
        Http1Connection {
            answers,
            reading: ReadState::Head,
            input: Vec::new(),
            scanned: 0,
            head_deadline: None,
            unread: false,
        }
    }

    /// Reads the received bytes, through `buffer`. Returns true if more bytes may wait for another turn.
    pub(crate) fn read(&mut self, shared: &mut SharedState, buffer: &mut [u8]) -> Result<bool, CloseReason> {
        self.unread = false;
        self.receive(shared, &[]);
        for _ in 0..READS_PER_TURN {
            if self.answers.is_full() {
                self.unread = true;
                return Ok(false);
            }
            if self.speaks_http2() || self.speaks_websocket() {
                return Ok(true);
            }
            match self.answers.transport.read(buffer) {
                Ok(0) => return Err(CloseReason::ClientGone),
                Ok(length) => self.receive(shared, &buffer[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(CloseReason::ClientGone),
            }
        }
        Ok(true)
    }

    /// Returns true if the client sent the preface of HTTP/2, which is still in `input`.
    pub(crate) fn speaks_http2(&self) -> bool {
        #[cfg(feature = "http2")]
        return matches!(self.reading, ReadState::Http2);
        #[cfg(not(feature = "http2"))]
        return false;
    }

    /// Converts the connection to HTTP/2.
    #[cfg(feature = "http2")]
    pub(crate) fn into_http2(self) -> crate::http2::Http2Connection {
        crate::http2::Http2Connection::new(self.answers.transport, self.answers.token, &self.input)
    }

    /// Returns true if the client asked for WebSocket.
    pub(crate) fn speaks_websocket(&self) -> bool {
        matches!(self.reading, ReadState::WebSocket(..))
    }

    /// Takes the client's request for WebSocket and its route, if that came last.
    pub(crate) fn take_upgrade(&mut self) -> Option<(Upgrade, RouteId)> {
        match std::mem::replace(&mut self.reading, ReadState::Nothing) {
            ReadState::WebSocket(upgrade, route) => Some((upgrade, route)),
            other => {
                self.reading = other;
                None
            }
        }
    }

    /// Converts the connection to WebSocket, which the client asked for with `upgrade`.
    pub(crate) fn into_websocket(self, upgrade: &Upgrade, route: RouteId) -> MessageConnection {
        MessageConnection::websocket(self.answers, upgrade, route, &self.input)
    }

    /// Returns true if bytes were left unread for lack of room, and there is room now.
    pub(crate) fn wants_reading(&self) -> bool {
        self.unread && !self.answers.is_full()
    }

    /// Handles a timer of this connection that is due.
    pub(crate) fn on_timer(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        if self.head_deadline.is_some_and(|deadline| deadline <= now) {
            self.refuse(shared, Refusal::TooSlow);
        }
        self.answers.on_timer(shared, now)
    }

    /// Parses the earlier input and `bytes` as far as possible, and keeps the rest.
    fn receive(&mut self, shared: &mut SharedState, bytes: &[u8]) {
        if self.answers.is_lingering() {
            self.reading = ReadState::Nothing;
            self.input = Vec::new();
            self.head_deadline = None;
            return;
        }
        if self.input.is_empty() {
            let used = self.parse_requests(shared, bytes);
            self.input.extend_from_slice(&bytes[used..]);
        } else {
            let mut input = std::mem::take(&mut self.input);
            input.extend_from_slice(bytes);
            let used = self.parse_requests(shared, &input);
            input.drain(..used);
            self.input = input;
        }
        self.update_head_deadline(shared);
    }

    /// Parses one request after the other. Returns the number of bytes taken.
    fn parse_requests(&mut self, shared: &mut SharedState, bytes: &[u8]) -> usize {
        let mut used = 0;
        while used < bytes.len() && !self.answers.is_full() {
            let rest = &bytes[used..];
            let read = match &mut self.reading {
                ReadState::Nothing => return bytes.len(),
                ReadState::WebSocket(..) => return used,
                #[cfg(feature = "http2")]
                ReadState::Http2 => return used,
                #[cfg(feature = "http2")]
                ReadState::Head if self.answers.is_empty() && is_preface(rest) => {
                    if rest.len() >= PREFACE.len() {
                        self.reading = ReadState::Http2;
                    }
                    return used;
                }
                ReadState::Body { body, kept, .. } => read_body(body, kept.as_mut(), rest).map(Some),
                ReadState::Head if !may_contain_head(rest, self.scanned) => Ok(None),
                ReadState::Head => parse_head(rest).map(|head| head.map(|head| self.begin(shared, head))),
            };
            match read {
                Ok(Some(length)) => {
                    used += length;
                    self.scanned = 0;
                    self.end_body(shared);
                }
                Ok(None) => {
                    self.scanned = rest.len();
                    break;
                }
                Err(refusal) => {
                    self.refuse(shared, refusal);
                    return bytes.len();
                }
            }
        }
        used
    }

    /// Begins the exchange of the request whose head was just read. Returns the length of the head.
    fn begin(&mut self, shared: &mut SharedState, head: RequestHead<'_>) -> usize {
        let now = shared.now();
        self.head_deadline = None;
        if let Some(upgrade) = head.upgrade.filter(|_| self.answers.is_empty()) {
            self.reading = ReadState::WebSocket(upgrade, shared.route_of(head.path));
            return head.length;
        }
        let form = ResponseForm { is_head: head.is_head, keep_alive: head.keep_alive, framing: head.framing };
        if head.expects_continue {
            let interim = ResponseForm { keep_alive: true, ..ResponseForm::LAST };
            let interim = ServerExchange::new_unrecorded(&shared.responses, shared.responses.interim(), interim, now);
            self.answers.push(shared, interim);
        }
        let mut exchange = shared.begin(head.route, head.path, now, form);
        exchange.request_read = head.body.is_over();
        let kept = head.route.reads_body().then(Vec::new);
        self.reading = ReadState::Body { body: head.body, is_last: !head.keep_alive, kept };
        self.answers.push(shared, exchange);
        head.length
    }

    /// If the body of the last request has been read, lets its answer leave and the next request begin.
    fn end_body(&mut self, shared: &mut SharedState) {
        let ReadState::Body { body, is_last, kept } = &self.reading else { return };
        if !body.is_over() {
            return;
        }
        let token = self.answers.token;
        let Some(exchange) = self.answers.last() else { return };
        shared.begin_stream(exchange, kept.as_deref().unwrap_or_default(), token);
        if !exchange.request_read {
            exchange.request_read = true;
            // The timer of the answer may have fired while the body was still being read.
            shared.timers.add(exchange.due.max(shared.now()), token);
        }
        self.reading = if *is_last { ReadState::Nothing } else { ReadState::Head };
    }

    /// Answers invalid input, after all requests before it, and closes the connection. If the input
    /// was the body of a request, drops that request.
    fn refuse(&mut self, shared: &mut SharedState, refusal: Refusal) {
        if matches!(self.reading, ReadState::Body { .. }) {
            self.answers.drop_last(shared);
        }
        let form = ResponseForm::LAST;
        let now = shared.now();
        let response = shared.responses.bare(refusal.status(), false);
        self.answers.push(shared, ServerExchange::new_unrecorded(&shared.responses, response, form, now));
        shared.recorder.totals.refused += 1;
        self.reading = ReadState::Nothing;
        self.input.clear();
        self.head_deadline = None;
    }

    /// Sets the deadline for an incomplete head.
    fn update_head_deadline(&mut self, shared: &mut SharedState) {
        if self.input.is_empty() || self.answers.is_full() || !matches!(self.reading, ReadState::Head) {
            self.head_deadline = None;
        } else if self.head_deadline.is_none() {
            let deadline = shared.now() + shared.head_timeout;
            shared.timers.add(deadline, self.answers.token);
            self.head_deadline = Some(deadline);
        }
    }
}

/// Returns true if `bytes` begin with the preface of HTTP/2, or are a part of its beginning.
#[cfg(feature = "http2")]
fn is_preface(bytes: &[u8]) -> bool {
    let length = bytes.len().min(PREFACE.len());
    bytes[..length] == PREFACE[..length]
}

/// Takes the part of `bytes` that belongs to a body, and appends its data to `kept`. Returns its length.
fn read_body(body: &mut Body, kept: Option<&mut Vec<u8>>, bytes: &[u8]) -> Result<usize, Refusal> {
    let Some(kept) = kept else { return body.read(bytes, &mut |_| {}) };
    let length = body.read(bytes, &mut |data| kept.extend_from_slice(data))?;
    if kept.len() > MAX_BODY_BYTES { Err(Refusal::BodyTooLarge) } else { Ok(length) }
}
