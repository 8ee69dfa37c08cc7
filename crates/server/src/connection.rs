//! One connection: requests in, exchanges in their order, answers out when they are due.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use truetail_model::time::{Nanos, Timestamp};

use crate::exchange::{Exchange, Form, Step, Then};
use crate::house::House;
use crate::http::{Body, Head, Refusal, Route, may_hold_head, parse_head};
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
pub(crate) enum Over {
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
    looked_at: usize,
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
            looked_at: 0,
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
    pub(crate) fn read(&mut self, house: &mut House, buffer: &mut [u8]) -> Result<bool, Over> {
        self.unread = false;
        self.take(house, &[]);
        for _ in 0..READS_PER_TURN {
            if self.is_full() {
                self.unread = true;
                return Ok(false);
            }
            match self.stream.read(buffer) {
                Ok(0) => return Err(Over::ClientGone),
                Ok(length) => self.take(house, &buffer[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Over::ClientGone),
            }
        }
        Ok(true)
    }

    /// There is room for more requests, and may be something to read that was left there.
    pub(crate) fn wants_reading(&self) -> bool {
        self.unread && !self.is_full()
    }

    /// Sends what is due, as far as the system takes it and until the others have their turn.
    pub(crate) fn advance(&mut self, house: &mut House) -> Result<(), Over> {
        let mut now = house.now();
        self.blocked = false;
        let mut answers = 0;
        while let Some(exchange) = self.exchanges.front_mut() {
            match exchange.step(now) {
                Step::Wait => return Ok(()),
                Step::SendTo(_) if answers == ANSWERS_PER_TURN => {
                    house.timers.add(now, self.token);
                    return Ok(());
                }
                Step::SendTo(end) => {
                    self.blocked = !send(&self.stream, exchange, end, house)?;
                    if self.blocked {
                        return Ok(());
                    }
                    now = house.now();
                    answers += 1;
                }
                Step::Complete => self.complete_first(house, now)?,
            }
        }
        Ok(())
    }

    /// The system takes bytes again.
    pub(crate) fn on_writable(&mut self, house: &mut House) -> Result<(), Over> {
        if self.blocked { self.advance(house) } else { Ok(()) }
    }

    /// Some instant has come that this connection had added to the timers.
    pub(crate) fn on_timer(&mut self, house: &mut House, now: Timestamp) -> Result<(), Over> {
        if self.linger_until.is_some_and(|until| until <= now) {
            return Err(Over::Done);
        }
        if self.head_deadline.is_some_and(|deadline| deadline <= now) {
            self.refuse(house, Refusal::TooSlow);
        }
        self.advance(house)
    }

    /// Enters for every request that was not answered that it ended so.
    pub(crate) fn abandon(&mut self, house: &mut House, ending: Ending) {
        let now = house.now();
        for mut exchange in self.exchanges.drain(..) {
            if let Some(entry) = &mut exchange.entry {
                entry.ending = ending;
            }
            house.close_entry(&mut exchange, now);
        }
    }

    fn is_full(&self) -> bool {
        self.exchanges.len() >= MAX_PIPELINED
    }

    /// Understands as much as it can of what was left before and of `bytes`, and keeps the rest.
    fn take(&mut self, house: &mut House, bytes: &[u8]) {
        if self.input.is_empty() {
            let used = self.understand(house, bytes);
            self.input.extend_from_slice(&bytes[used..]);
        } else {
            let mut input = std::mem::take(&mut self.input);
            input.extend_from_slice(bytes);
            let used = self.understand(house, &input);
            input.drain(..used);
            self.input = input;
        }
        self.watch_head(house);
    }

    /// Understands requests one after the other, and says how many bytes of `bytes` they were.
    fn understand(&mut self, house: &mut House, bytes: &[u8]) -> usize {
        let mut used = 0;
        while used < bytes.len() && !self.is_full() {
            let rest = &bytes[used..];
            let read = match &mut self.reading {
                Reading::Nothing => return bytes.len(),
                Reading::Body { body, .. } => body.discard(rest).map(Some),
                Reading::Head if !may_hold_head(rest, self.looked_at) => Ok(None),
                Reading::Head => parse_head(rest).map(|head| head.map(|head| self.begin(house, head))),
            };
            match read {
                Ok(Some(length)) => {
                    used += length;
                    self.looked_at = 0;
                    self.end_body(house);
                }
                Ok(None) => {
                    self.looked_at = rest.len();
                    break;
                }
                Err(refusal) => {
                    self.refuse(house, refusal);
                    return bytes.len();
                }
            }
        }
        used
    }

    /// Begins the exchange of the request whose head was just read, and gives back the head's length.
    fn begin(&mut self, house: &mut House, head: Head) -> usize {
        let now = house.now();
        self.head_deadline = None;
        let form = Form { is_head: head.is_head, keep_alive: head.keep_alive };
        if head.expects_continue {
            let interim = Form { is_head: false, keep_alive: true };
            self.push(house, Exchange::apart(&house.answers, house.answers.interim(), interim, now));
        }
        let mut exchange = match head.route {
            Route::Service => house.admit(now, form),
            Route::Health => house.health_check(now, form),
            Route::Refused(refusal) => house.bare(refusal.status(), now, form),
            Route::StartClock => {
                house.start_clock(now);
                house.bare(204, now, form)
            }
        };
        exchange.request_read = head.body.is_over();
        self.reading = Reading::Body { body: head.body, is_last: !head.keep_alive };
        self.push(house, exchange);
        head.length
    }

    /// Where the body of the last request has been read, its answer may leave and the next request may come.
    fn end_body(&mut self, house: &mut House) {
        let Reading::Body { body, is_last } = &self.reading else { return };
        if !body.is_over() {
            return;
        }
        let Some(exchange) = self.exchanges.back_mut() else { return };
        if !exchange.request_read {
            exchange.request_read = true;
            // Its own instant may have passed unused.
            house.timers.add(exchange.due.max(house.now()), self.token);
        }
        self.reading = if *is_last { Reading::Nothing } else { Reading::Head };
    }

    fn push(&mut self, house: &mut House, exchange: Exchange) {
        house.timers.add(exchange.due, self.token);
        if let Some((_, at)) = exchange.rest {
            house.timers.add(at, self.token);
        }
        self.exchanges.push_back(exchange);
    }

    /// Answers what is no request, after everything before it, and closes. A request whose body it was ends with it.
    fn refuse(&mut self, house: &mut House, refusal: Refusal) {
        if matches!(self.reading, Reading::Body { .. })
            && let Some(mut exchange) = self.exchanges.pop_back()
        {
            if let Some(entry) = &mut exchange.entry {
                entry.ending = Ending::Dropped;
            }
            house.close_entry(&mut exchange, house.now());
        }
        let form = Form { is_head: false, keep_alive: false };
        let now = house.now();
        let answer = house.answers.bare(refusal.status(), false);
        self.push(house, Exchange::apart(&house.answers, answer, form, now));
        house.ledger.totals.refused += 1;
        self.reading = Reading::Nothing;
        self.input.clear();
        self.head_deadline = None;
    }

    /// A head that has begun must end in time.
    fn watch_head(&mut self, house: &mut House) {
        if self.input.is_empty() || self.is_full() || !matches!(self.reading, Reading::Head) {
            self.head_deadline = None;
        } else if self.head_deadline.is_none() {
            let deadline = house.now() + house.head_timeout;
            house.timers.add(deadline, self.token);
            self.head_deadline = Some(deadline);
        }
    }

    /// The first exchange is done with: its last byte left at `now`.
    fn complete_first(&mut self, house: &mut House, now: Timestamp) -> Result<(), Over> {
        let Some(mut exchange) = self.exchanges.pop_front() else { return Ok(()) };
        house.close_entry(&mut exchange, now);
        match exchange.then {
            Then::GoOn => Ok(()),
            Then::Reset => Err(Over::Reset),
            Then::Close => self.say_goodbye(house, now),
        }
    }

    /// Nothing more is sent. What the client still sends is read for a while.
    fn say_goodbye(&mut self, house: &mut House, now: Timestamp) -> Result<(), Over> {
        self.abandon(house, Ending::Dropped);
        self.reading = Reading::Nothing;
        self.input = Vec::new();
        self.head_deadline = None;
        self.unread = true;
        self.stream.shutdown(Shutdown::Write).map_err(|_| Over::ClientGone)?;
        let until = now + LINGER;
        house.timers.add(until, self.token);
        self.linger_until = Some(until);
        Ok(())
    }
}

/// Sends bytes of `exchange` before `end`; false when the system takes no more for now.
fn send(mut stream: &TcpStream, exchange: &mut Exchange, end: u64, house: &House) -> Result<bool, Over> {
    while exchange.sent < end {
        match stream.write(house.answers.piece(exchange.answer, exchange.sent, end)) {
            Ok(length) => exchange.sent += length as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(Over::ClientGone),
        }
    }
    Ok(true)
}
