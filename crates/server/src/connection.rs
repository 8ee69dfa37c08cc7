//! One connection: requests in, exchanges in their order, answers out when they are due.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use truetail_model::time::{Nanos, Timestamp};

use crate::exchange::{AfterResponse, Exchange, NextSend, ResponseForm};
use crate::http::{Body, Head, Refusal, Route, may_contain_head, parse_head};
use crate::shared_state::SharedState;
use crate::truth::Ending;

/// So many requests of one connection are held at once; what follows stays with the client until some were answered.
const MAX_PIPELINED: usize = 256;
/// So often a connection is read before the others have their turn.
const READS_PER_TURN: usize = 8;
/// So many answers leave on one connection before the others have their turn.
const ANSWERS_PER_TURN: usize = 16;
/// For so long the rest of what a client sends is read after the last answer, so that the system does not reset the
/// connection before the client has read that answer.
const LINGER: Nanos = Nanos::from_secs(1);

/// Why a connection is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CloseReason {
    /// The client ended it.
    ClientGone,
    /// It is to be reset.
    Reset,
    /// The server is done with it.
    Done,
}

/// What the next bytes are.
#[derive(Debug)]
enum Reading {
    /// A head.
    Head,
    /// The body of the request that the last exchange answers; the client wants no other after it where `is_last`.
    Body { body: Body, is_last: bool },
    /// Nothing that matters: no further request is answered.
    Nothing,
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    token: u64,
    reading: Reading,
    /// What was read and not understood so far: a part of a head, or requests for which there is no room.
    input: Vec<u8>,
    /// So much of `input` is known to hold no whole head.
    scanned: usize,
    /// When the head under way must be there.
    head_deadline: Option<Timestamp>,
    exchanges: VecDeque<Exchange>,
    /// There may be something to read that was left there, because there was no room for more requests.
    unread: bool,
    /// The system takes no more bytes for now.
    blocked: bool,
    /// The last answer has left; what still comes is read until then.
    linger_until: Option<Timestamp>,
}

impl Connection {
    /// A connection on which nothing was said. `stream` does not block, and the reactor watches it as `token`.
    pub(crate) fn new(stream: TcpStream, token: u64) -> Connection {
        Connection {
            stream,
            token,
            reading: Reading::Head,
            input: Vec::new(),
            scanned: 0,
            head_deadline: None,
            exchanges: VecDeque::new(),
            unread: false,
            blocked: false,
            linger_until: None,
        }
    }

    /// Its socket.
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads what there is, by way of `buffer`; true when there may be more and another turn is wanted.
    pub(crate) fn read(&mut self, shared: &mut SharedState, buffer: &mut [u8]) -> Result<bool, CloseReason> {
        self.unread = false;
        self.take(shared, &[]);
        for _ in 0..READS_PER_TURN {
            if self.is_full() {
                self.unread = true;
                return Ok(false);
            }
            match self.stream.read(buffer) {
                Ok(0) => return Err(CloseReason::ClientGone),
                Ok(length) => self.take(shared, &buffer[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(CloseReason::ClientGone),
            }
        }
        Ok(true)
    }

    /// There is room for more requests, and may be something to read that was left there.
    pub(crate) fn wants_reading(&self) -> bool {
        self.unread && !self.is_full()
    }

    /// Sends what is due, as far as the system takes it and until the others have their turn.
    pub(crate) fn advance(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        let mut now = shared.now();
        self.blocked = false;
        let mut responses = 0;
        while let Some(exchange) = self.exchanges.front_mut() {
            match exchange.step(now) {
                NextSend::Wait => return Ok(()),
                NextSend::SendTo(_) if responses == ANSWERS_PER_TURN => {
                    shared.timers.add(now, self.token);
                    return Ok(());
                }
                NextSend::SendTo(end) => {
                    self.blocked = !send(&self.stream, exchange, end, shared)?;
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

    /// The system takes bytes again.
    pub(crate) fn on_writable(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        if self.blocked { self.advance(shared) } else { Ok(()) }
    }

    /// Some instant has come that this connection had added to the timers.
    pub(crate) fn on_timer(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        if self.linger_until.is_some_and(|until| until <= now) {
            return Err(CloseReason::Done);
        }
        if self.head_deadline.is_some_and(|deadline| deadline <= now) {
            self.refuse(shared, Refusal::TooSlow);
        }
        self.advance(shared)
    }

    /// Enters for every request that was not answered that it ended so.
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

    /// Understands as much as it can of what was left before and of `bytes`, and keeps the rest.
    fn take(&mut self, shared: &mut SharedState, bytes: &[u8]) {
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

    /// Understands requests one after the other, and says how many bytes of `bytes` they were.
    fn parse_requests(&mut self, shared: &mut SharedState, bytes: &[u8]) -> usize {
        let mut used = 0;
        while used < bytes.len() && !self.is_full() {
            let rest = &bytes[used..];
            let read = match &mut self.reading {
                Reading::Nothing => return bytes.len(),
                Reading::Body { body, .. } => body.discard(rest).map(Some),
                Reading::Head if !may_contain_head(rest, self.scanned) => Ok(None),
                Reading::Head => parse_head(rest).map(|head| head.map(|head| self.begin(shared, head))),
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

    /// Begins the exchange of the request whose head was just read, and gives back the head's length.
    fn begin(&mut self, shared: &mut SharedState, head: Head) -> usize {
        let now = shared.now();
        self.head_deadline = None;
        let form = ResponseForm { is_head: head.is_head, keep_alive: head.keep_alive };
        if head.expects_continue {
            let interim = ResponseForm { is_head: false, keep_alive: true };
            self.push(shared, Exchange::unrecorded(&shared.responses, shared.responses.interim(), interim, now));
        }
        let mut exchange = match head.route {
            Route::Service => shared.admit(now, form),
            Route::Health => shared.health_check(now, form),
            Route::Refused(refusal) => shared.bare(refusal.status(), now, form),
            Route::StartClock => {
                shared.start_clock(now);
                shared.bare(204, now, form)
            }
        };
        exchange.request_read = head.body.is_over();
        self.reading = Reading::Body { body: head.body, is_last: !head.keep_alive };
        self.push(shared, exchange);
        head.length
    }

    /// Where the body of the last request has been read, its answer may leave and the next request may come.
    fn end_body(&mut self, shared: &mut SharedState) {
        let Reading::Body { body, is_last } = &self.reading else { return };
        if !body.is_over() {
            return;
        }
        let Some(exchange) = self.exchanges.back_mut() else { return };
        if !exchange.request_read {
            exchange.request_read = true;
            // Its own instant may have passed unused.
            shared.timers.add(exchange.due.max(shared.now()), self.token);
        }
        self.reading = if *is_last { Reading::Nothing } else { Reading::Head };
    }

    fn push(&mut self, shared: &mut SharedState, exchange: Exchange) {
        shared.timers.add(exchange.due, self.token);
        if let Some((_, at)) = exchange.rest {
            shared.timers.add(at, self.token);
        }
        self.exchanges.push_back(exchange);
    }

    /// Responses what is no request, after everything before it, and closes. A request whose body it was ends with it.
    fn refuse(&mut self, shared: &mut SharedState, refusal: Refusal) {
        if matches!(self.reading, Reading::Body { .. })
            && let Some(mut exchange) = self.exchanges.pop_back()
        {
            if let Some(entry) = &mut exchange.entry {
                entry.ending = Ending::Dropped;
            }
            shared.close_row(&mut exchange, shared.now());
        }
        let form = ResponseForm { is_head: false, keep_alive: false };
        let now = shared.now();
        let response = shared.responses.bare(refusal.status(), false);
        self.push(shared, Exchange::unrecorded(&shared.responses, response, form, now));
        shared.recorder.totals.refused += 1;
        self.reading = Reading::Nothing;
        self.input.clear();
        self.head_deadline = None;
    }

    /// A head that has begun must end in time.
    fn update_head_deadline(&mut self, shared: &mut SharedState) {
        if self.input.is_empty() || self.is_full() || !matches!(self.reading, Reading::Head) {
            self.head_deadline = None;
        } else if self.head_deadline.is_none() {
            let deadline = shared.now() + shared.head_timeout;
            shared.timers.add(deadline, self.token);
            self.head_deadline = Some(deadline);
        }
    }

    /// The first exchange is done with: its last byte left at `now`.
    fn complete_first(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        let Some(mut exchange) = self.exchanges.pop_front() else { return Ok(()) };
        shared.close_row(&mut exchange, now);
        match exchange.then {
            AfterResponse::KeepOpen => Ok(()),
            AfterResponse::Reset => Err(CloseReason::Reset),
            AfterResponse::Close => self.begin_linger(shared, now),
        }
    }

    /// Nothing more is sent. What the client still sends is read for a while.
    fn begin_linger(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        self.abandon(shared, Ending::Dropped);
        self.reading = Reading::Nothing;
        self.input = Vec::new();
        self.head_deadline = None;
        self.unread = true;
        self.stream.shutdown(Shutdown::Write).map_err(|_| CloseReason::ClientGone)?;
        let until = now + LINGER;
        shared.timers.add(until, self.token);
        self.linger_until = Some(until);
        Ok(())
    }
}

/// Sends bytes of `exchange` before `end`; false when the system takes no more for now.
fn send(mut stream: &TcpStream, exchange: &mut Exchange, end: u64, shared: &SharedState) -> Result<bool, CloseReason> {
    while exchange.sent < end {
        match stream.write(shared.responses.piece(exchange.response, exchange.sent, end)) {
            Ok(length) => exchange.sent += length as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(CloseReason::ClientGone),
        }
    }
    Ok(true)
}
