//! The answers of one connection, which leave in the order of their requests, or of a channel when they are ready.

use std::collections::VecDeque;
use std::io::ErrorKind;

use truetail_model::service::BatchEvent;
use truetail_model::time::{Nanos, Timestamp};

use crate::close_reason::CloseReason;
use crate::exchange::{AfterResponse, NextSend, ServerExchange};
use crate::shared_state::SharedState;
use crate::stream::StreamKey;
use crate::transport::Transport;
use crate::truth::Ending;

/// Maximum number of requests that a connection in HTTP/1 holds. Further requests stay unread until some are answered.
pub(crate) const MAX_PIPELINED: usize = 256;
/// Maximum size of the answers that a connection holds, if they are not the shared ones of the service.
const MAX_OWN_BYTES: u64 = 4 * 1024 * 1024;
/// Answers of one connection per turn.
const ANSWERS_PER_TURN: usize = 16;
/// Time that the server continues to read after the last answer. Otherwise the system would reset the connection before
/// the client has read that answer.
const LINGER: Nanos = Nanos::from_secs(1);

#[derive(Debug)]
pub(crate) struct AnswerQueue {
    pub(crate) transport: Transport,
    pub(crate) token: u64,
    exchanges: VecDeque<ServerExchange>,
    /// Maximum number of requests that the connection holds.
    most: usize,
    own_bytes: u64,
    /// True if the answers of the service are in the order of their due times, and not in that of their requests.
    leaves_as_ready: bool,
    /// True while the system accepts no more bytes.
    blocked: bool,
    /// Time until which further bytes are read and dropped; set when the last answer has left.
    linger_until: Option<Timestamp>,
}

impl AnswerQueue {
    /// Creates the queue of a connection in HTTP/1. Its socket is non-blocking, and the reactor watches it as `token`.
    pub(crate) fn new(transport: Transport, token: u64) -> AnswerQueue {
        AnswerQueue {
            transport,
            token,
            exchanges: VecDeque::new(),
            most: MAX_PIPELINED,
            own_bytes: 0,
            leaves_as_ready: false,
            blocked: false,
            linger_until: None,
        }
    }

    /// Sets the number of requests that the connection holds.
    pub(crate) fn with_room_for(self, most: usize) -> AnswerQueue {
        AnswerQueue { most, ..self }
    }

    /// Lets each answer of the service leave when it is due, whatever comes before it.
    pub(crate) fn leave_as_ready(&mut self) {
        self.leaves_as_ready = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// Returns true if there is no room for another request.
    pub(crate) fn is_full(&self) -> bool {
        self.exchanges.len() >= self.most || self.own_bytes >= MAX_OWN_BYTES
    }

    /// Returns true if the last answer has left, so that further bytes are only read and dropped.
    pub(crate) fn is_lingering(&self) -> bool {
        self.linger_until.is_some()
    }

    pub(crate) fn last(&mut self) -> Option<&mut ServerExchange> {
        self.exchanges.back_mut()
    }

    /// Adds an answer after all others. Among answers that leave as ready, the order is that of their due times.
    pub(crate) fn push(&mut self, shared: &mut SharedState, exchange: ServerExchange) {
        self.set_timers(shared, &exchange);
        if !self.leaves_as_ready || exchange.is_of_server() {
            return self.exchanges.push_back(exchange);
        }
        // An answer that has begun to leave, or that comes from the server, was due before this one was asked for.
        let place = self.exchanges.partition_point(|before| before.due <= exchange.due);
        self.exchanges.insert(place, exchange);
    }

    /// Adds an answer of the server itself before the answers of the service that have not begun. TLS may hold bytes of
    /// the first answer if the system was full.
    pub(crate) fn push_first(&mut self, shared: &mut SharedState, exchange: ServerExchange) {
        self.set_timers(shared, &exchange);
        let has_begun = self.exchanges.front().is_some_and(|front| front.sent > 0 || self.blocked);
        let begun = usize::from(has_begun);
        let own = self.exchanges.iter().skip(begun).take_while(|exchange| exchange.is_of_server()).count();
        self.exchanges.insert(begun + own, exchange);
    }

    fn set_timers(&mut self, shared: &mut SharedState, exchange: &ServerExchange) {
        self.own_bytes += exchange.own_bytes();
        shared.timers.add(exchange.due, self.token);
        if let Some((_, at)) = exchange.rest {
            shared.timers.add(at, self.token);
        }
    }

    /// Drops the last request, whose body is not valid.
    pub(crate) fn drop_last(&mut self, shared: &mut SharedState) {
        if let Some(mut exchange) = self.exchanges.pop_back() {
            if let Some(entry) = &mut exchange.entry {
                entry.ending = Ending::Dropped;
            }
            self.own_bytes -= exchange.own_bytes();
            shared.close_row(&mut exchange, shared.now());
        }
    }

    /// Sends the due bytes until the system accepts no more or the turn is over.
    pub(crate) fn advance(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        let mut now = shared.now();
        self.blocked = false;
        let mut responses = 0;
        loop {
            let Some(exchange) = self.exchanges.front_mut() else { return Ok(()) };
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
    }

    /// Continues to send when the system accepts bytes again.
    pub(crate) fn on_writable(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        self.transport.flush().map_err(|_| CloseReason::ClientGone)?;
        if self.blocked { self.advance(shared) } else { Ok(()) }
    }

    /// Returns the number of requests that wait, and of bytes that left of the first answer.
    #[cfg(feature = "http2")]
    pub(crate) fn position(&self) -> (usize, u64) {
        (self.exchanges.len(), self.exchanges.front().map_or(0, |first| first.sent))
    }

    /// Sends what is due at a timer of this connection, or closes it when it has lingered.
    pub(crate) fn on_timer(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        if self.linger_until.is_some_and(|until| until <= now) {
            return Err(CloseReason::Finished);
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
        self.own_bytes = 0;
    }

    /// Ends the first exchange, whose last byte left at `now`.
    fn complete_first(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        let Some(mut exchange) = self.exchanges.pop_front() else { return Ok(()) };
        self.own_bytes -= exchange.own_bytes();
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
        self.transport.finish().map_err(|_| CloseReason::ClientGone)?;
        let until = now + LINGER;
        shared.timers.add(until, self.token);
        self.linger_until = Some(until);
        Ok(())
    }
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
