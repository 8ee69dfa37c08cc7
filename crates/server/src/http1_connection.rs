//! A connection in HTTP/1. It reads requests, queues an exchange for each, and sends due answers in order.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::TcpStream;

use truetail_model::service::BatchEvent;
use truetail_model::time::{Nanos, Timestamp};

use crate::close_reason::CloseReason;
use crate::exchange::{AfterResponse, NextSend, ServerExchange};
use crate::http::{Body, Refusal, RequestHead, Route, may_contain_head, parse_head};
use crate::response_form::ResponseForm;
use crate::shared_state::SharedState;
use crate::stream::{MAX_BODY_BYTES, StreamKey};
use crate::transport::Transport;
use crate::truth::Ending;

/// Maximum number of requests that a connection holds. Further requests stay unread until some are answered.
const MAX_PIPELINED: usize = 256;
/// Reads of one connection per turn.
const READS_PER_TURN: usize = 8;
/// Answers of one connection per turn.
const ANSWERS_PER_TURN: usize = 16;
/// Time that the server continues to read after the last answer. Otherwise the system would reset the connection before
/// the client has read that answer.
const LINGER: Nanos = Nanos::from_secs(1);

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
    /// HTTP/2, which this type does not read.
    #[cfg(feature = "http2")]
    Http2,
}

#[derive(Debug)]
pub(crate) struct Http1Connection {
    transport: Transport,
    token: u64,
    reading: ReadState,
    /// Bytes that were read but not parsed: a part of a head, or requests that must wait for room.
    input: Vec<u8>,
    /// Number of bytes of `input` that are known to contain no whole head.
    scanned: usize,
    /// Time limit of the incomplete head.
    head_deadline: Option<Timestamp>,
    exchanges: VecDeque<ServerExchange>,
    /// True if reading stopped because there was no room for more requests, so that bytes may wait.
    unread: bool,
    /// True while the system accepts no more bytes.
    blocked: bool,
    /// Time until which further bytes are read and dropped; set when the last answer has left.
    linger_until: Option<Timestamp>,
}

impl Http1Connection {
    /// Creates a connection. Its socket is non-blocking, and the reactor watches it as `token`.
    pub(crate) fn new(transport: Transport, token: u64) -> Http1Connection {
        Http1Connection {
            transport,
            token,
            reading: ReadState::Head,
            input: Vec::new(),
            scanned: 0,
            head_deadline: None,
            exchanges: VecDeque::new(),
            unread: false,
            blocked: false,
            linger_until: None,
        }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        self.transport.stream()
    }

    /// Reads the received bytes, through `buffer`. Returns true if more bytes may wait for another turn.
    pub(crate) fn read(&mut self, shared: &mut SharedState, buffer: &mut [u8]) -> Result<bool, CloseReason> {
        self.unread = false;
        self.receive(shared, &[]);
        for _ in 0..READS_PER_TURN {
            if self.is_full() {
                self.unread = true;
                return Ok(false);
            }
            if self.speaks_http2() {
                return Ok(true);
            }
            match self.transport.read(buffer) {
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
        crate::http2::Http2Connection::new(self.transport, self.token, &self.input)
    }

    /// Returns true if bytes were left unread for lack of room, and there is room now.
    pub(crate) fn wants_reading(&self) -> bool {
        self.unread && !self.is_full()
    }

    /// Sends the due bytes until the system accepts no more or the turn is over.
    pub(crate) fn advance(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        let mut now = shared.now();
        self.blocked = false;
        let mut responses = 0;
        while let Some(exchange) = self.exchanges.front_mut() {
            match exchange.step(now) {
                NextSend::Wait => {
                    if let Some(at) = exchange.next_write(now) {
                        shared.timers.add(at, self.token);
                    }
                    return Ok(());
                }
                NextSend::SendTo(_) if responses == ANSWERS_PER_TURN => {
                    shared.timers.add(now, self.token);
                    return Ok(());
                }
                NextSend::SendTo(end) => {
                    self.blocked = !send(&mut self.transport, exchange, end, shared)?;
                    if self.blocked {
                        return Ok(());
                    }
                    now = shared.now();
                    responses += 1;
                }
                NextSend::Complete => self.complete_first(shared, now)?,
            }
        }
        Ok(())
    }

    /// Continues to send when the system accepts bytes again.
    pub(crate) fn on_writable(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        self.transport.flush().map_err(|_| CloseReason::ClientGone)?;
        if self.blocked { self.advance(shared) } else { Ok(()) }
    }

    /// Handles a timer of this connection that is due.
    pub(crate) fn on_timer(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        if self.linger_until.is_some_and(|until| until <= now) {
            return Err(CloseReason::Finished);
        }
        if self.head_deadline.is_some_and(|deadline| deadline <= now) {
            self.refuse(shared, Refusal::TooSlow);
        }
        self.advance(shared)
    }

    /// Adds an event of a batch to its stream, to be sent when it is due.
    pub(crate) fn on_step(&mut self, shared: &mut SharedState, event: &BatchEvent<StreamKey>) {
        let streams = self.exchanges.iter_mut().filter_map(|exchange| exchange.stream.as_mut());
        if let Some(stream) = streams.into_iter().find(|stream| stream.number == event.key.number) {
            stream.add_step(event.at, event.is_last, event.faults);
            shared.timers.add(event.at, self.token);
        }
    }

    /// Ends every unanswered request with `ending`.
    pub(crate) fn abandon(&mut self, shared: &mut SharedState, ending: Ending) {
        let now = shared.now();
        for mut exchange in self.exchanges.drain(..) {
            if let Some(entry) = &mut exchange.entry {
                entry.ending = ending;
            }
            shared.close_row(&mut exchange, now);
        }
    }

    fn is_full(&self) -> bool {
        self.exchanges.len() >= MAX_PIPELINED
    }

    /// Parses the earlier input and `bytes` as far as possible, and keeps the rest.
    fn receive(&mut self, shared: &mut SharedState, bytes: &[u8]) {
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
        while used < bytes.len() && !self.is_full() {
            let rest = &bytes[used..];
            let read = match &mut self.reading {
                ReadState::Nothing => return bytes.len(),
                #[cfg(feature = "http2")]
                ReadState::Http2 => return used,
                #[cfg(feature = "http2")]
                ReadState::Head if self.exchanges.is_empty() && is_preface(rest) => {
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
        let form = ResponseForm { is_head: head.is_head, keep_alive: head.keep_alive, framing: head.framing };
        if head.expects_continue {
            let interim = ResponseForm { keep_alive: true, ..ResponseForm::LAST };
            self.push(
                shared,
                ServerExchange::new_unrecorded(&shared.responses, shared.responses.interim(), interim, now),
            );
        }
        let mut exchange = shared.begin(head.route, head.path, now, form);
        exchange.request_read = head.body.is_over();
        let kept = matches!(head.route, Route::Model(_)).then(Vec::new);
        self.reading = ReadState::Body { body: head.body, is_last: !head.keep_alive, kept };
        self.push(shared, exchange);
        head.length
    }

    /// If the body of the last request has been read, lets its answer leave and the next request begin.
    fn end_body(&mut self, shared: &mut SharedState) {
        let ReadState::Body { body, is_last, kept } = &self.reading else { return };
        if !body.is_over() {
            return;
        }
        let Some(exchange) = self.exchanges.back_mut() else { return };
        shared.begin_stream(exchange, kept.as_deref().unwrap_or_default(), self.token);
        if !exchange.request_read {
            exchange.request_read = true;
            // The timer of the answer may have fired while the body was still being read.
            shared.timers.add(exchange.due.max(shared.now()), self.token);
        }
        self.reading = if *is_last { ReadState::Nothing } else { ReadState::Head };
    }

    fn push(&mut self, shared: &mut SharedState, exchange: ServerExchange) {
        shared.timers.add(exchange.due, self.token);
        if let Some((_, at)) = exchange.rest {
            shared.timers.add(at, self.token);
        }
        self.exchanges.push_back(exchange);
    }

    /// Answers invalid input, after all requests before it, and closes the connection. If the input
    /// was the body of a request, drops that request.
    fn refuse(&mut self, shared: &mut SharedState, refusal: Refusal) {
        if matches!(self.reading, ReadState::Body { .. })
            && let Some(mut exchange) = self.exchanges.pop_back()
        {
            if let Some(entry) = &mut exchange.entry {
                entry.ending = Ending::Dropped;
            }
            shared.close_row(&mut exchange, shared.now());
        }
        let form = ResponseForm::LAST;
        let now = shared.now();
        let response = shared.responses.bare(refusal.status(), false);
        self.push(shared, ServerExchange::new_unrecorded(&shared.responses, response, form, now));
        shared.recorder.totals.refused += 1;
        self.reading = ReadState::Nothing;
        self.input.clear();
        self.head_deadline = None;
    }

    /// Sets the deadline for an incomplete head.
    fn update_head_deadline(&mut self, shared: &mut SharedState) {
        if self.input.is_empty() || self.is_full() || !matches!(self.reading, ReadState::Head) {
            self.head_deadline = None;
        } else if self.head_deadline.is_none() {
            let deadline = shared.now() + shared.head_timeout;
            shared.timers.add(deadline, self.token);
            self.head_deadline = Some(deadline);
        }
    }

    /// Ends the first exchange, whose last byte left at `now`.
    fn complete_first(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        let Some(mut exchange) = self.exchanges.pop_front() else { return Ok(()) };
        shared.close_row(&mut exchange, now);
        match exchange.then {
            AfterResponse::KeepOpen => Ok(()),
            AfterResponse::Reset => Err(CloseReason::Reset),
            AfterResponse::Close => self.begin_linger(shared, now),
        }
    }

    /// Closes the sending side, and continues to read for [`LINGER`].
    fn begin_linger(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        self.abandon(shared, Ending::Dropped);
        self.reading = ReadState::Nothing;
        self.input = Vec::new();
        self.head_deadline = None;
        self.unread = true;
        self.transport.finish().map_err(|_| CloseReason::ClientGone)?;
        let until = now + LINGER;
        shared.timers.add(until, self.token);
        self.linger_until = Some(until);
        Ok(())
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

/// Sends bytes of `exchange` before `end`. Returns false if the system accepts no more for now.
fn send(
    transport: &mut Transport,
    exchange: &mut ServerExchange,
    end: u64,
    shared: &SharedState,
) -> Result<bool, CloseReason> {
    while exchange.sent < end {
        match transport.write(exchange.piece(&shared.responses, exchange.sent, end)) {
            Ok(length) => exchange.note_sent(length as u64, || shared.now()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(CloseReason::ClientGone),
        }
    }
    Ok(true)
}
