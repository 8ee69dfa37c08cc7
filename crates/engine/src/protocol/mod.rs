//! The interface between a worker and the protocols of its connections.
//!
//! A protocol is a state machine without I/O. A worker gives it requests to begin and received bytes, and sends the
//! bytes that the protocol has ready. The protocol reports the outcome of requests as [`Event`]s. The worker handles
//! time, sockets, TLS, timeouts and the books.
//!
//! To add a protocol, add a folder that implements [`Protocol`] and [`Conversation`], and a branch in `choice`, which
//! selects the protocol and the placement of a run. The test suites in `tests` run over every protocol.

pub(crate) mod canceller;
pub(crate) mod choice;
pub(crate) mod fields;
pub mod http1;
pub mod http2;
mod made_in_run;
pub(crate) mod messages;
pub(crate) mod observer;
pub(crate) mod push_reader;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt::Debug;

use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{MessageBooks, SkippedLines};

use crate::target::request_parts::RequestParts;
use crate::target::request_set::RequestId;

use observer::{AnswerHead, AnswerLimits, AnswerReader, EndedRequest, SessionScript, Trailers};
use push_reader::PushReader;

/// A request in flight, by its slot in the worker's table.
pub(crate) type Tag = u32;

/// Protocol state that all connections of one worker share.
pub(crate) trait Protocol: Debug + Sized {
    type Conversation: Conversation<Self>;

    fn conversation(&self) -> Self::Conversation;

    /// Returns true if a connection carries several requests at once.
    fn carries_several(&self) -> bool {
        false
    }

    /// Returns true if the stamp of a read is that of an answer while one request is in flight, because little else
    /// arrives: each [`Event::Unasked`] tells of it. Answers may then lie unread.
    fn hears_only_answers(&self) -> bool {
        true
    }

    /// Returns true if a connection has state of its session, such as a login, so that no other one can replace it.
    fn has_session_state(&self) -> bool {
        false
    }

    /// Returns the ALPN protocol that the server must have agreed to over TLS, and the cause of the failure if it did
    /// not.
    fn required_alpn(&self) -> Option<(&'static [u8], Cause)> {
        None
    }

    /// Returns the place of the request that begins next, which has this row, to be overwritten. Must only be called if
    /// requests are made during the run.
    fn request_of(&mut self, row: u32) -> &mut RequestParts {
        unreachable!("requests were made before the run, and row {row} has none of its own")
    }

    /// Returns true if the requests in flight on a connection are streams, as HTTP/2 has them.
    fn has_streams(&self) -> bool {
        false
    }

    /// Takes the books of messages, if requests are messages.
    fn take_message_books(&mut self) -> Option<MessageBooks> {
        None
    }

    /// Takes the count of answers with skipped lines, if there were any.
    fn take_skipped_lines(&mut self) -> Option<SkippedLines> {
        None
    }
}

/// One connection: its requests in flight, and the state of both directions. Time comes in as a value.
pub(crate) trait Conversation<P>: Debug {
    /// Begins a request. Its bytes are part of [`Conversation::output`] from now on. Must only be called if
    /// [`Conversation::has_room`]. Returns the key of the request, for [`Conversation::cancel`].
    fn begin(&mut self, protocol: &P, begins: Beginning, events: &mut Events) -> u32;

    /// Called once, when the connection is open at `now`, before its first request.
    fn opened(&mut self, now: Timestamp, events: &mut Events) {
        let _ = (now, events);
    }

    fn output<'a>(&'a self, protocol: &'a P) -> &'a [u8];

    /// Records that one call of the transport, which began at `now`, took the first `count` bytes of the output. Also
    /// called with 0, after receiving something that may allow more to be sent.
    fn sent(&mut self, protocol: &P, count: usize, now: Timestamp, events: &mut Events);

    /// Handles received bytes. `at` is the instant when they were read; if a reader needs it, the arrival of the last
    /// of them. On [`Flow::Close`] every request has ended, and the output is the last message.
    fn receive(&mut self, protocol: &mut P, bytes: &[u8], at: Timestamp, events: &mut Events) -> Flow;

    /// Returns the instant of the next call of [`Conversation::on_deadline`]; [`Timestamp::NEVER`]: there is none.
    /// Asked after each other call.
    #[inline]
    fn next_deadline(&self) -> Timestamp {
        Timestamp::NEVER
    }

    /// Does what is due at `now`, such as a ping or giving up a handshake. The next deadline is later than `now`
    /// afterwards. On [`Flow::Close`] every request has ended, and the output is the last message.
    fn on_deadline(&mut self, protocol: &mut P, now: Timestamp, events: &mut Events) -> Flow {
        let _ = (protocol, now, events);
        Flow::Continue
    }

    /// Returns true once the conversation may carry requests. Before, its output is its own opening, such as a
    /// handshake or a login, and no request begins. [`Flow::Close`] then means that the opening failed.
    #[inline]
    fn is_open(&self) -> bool {
        true
    }

    /// Says what the opening waits for and what came instead, for an error.
    fn complaint(&self) -> Option<String> {
        None
    }

    /// Ends every open request, because the connection is gone.
    fn close(&mut self, how: Closed, events: &mut Events);

    /// Gives up a request that has not ended, without an event. Returns the bytes received of its answer.
    fn cancel(&mut self, key: u32, events: &mut Events) -> u64;

    /// Adds to the output the protocol's last message before the connection is closed, if it has one.
    fn say_goodbye(&mut self, events: &mut Events) {
        let _ = events;
    }

    /// Returns true if answers are matched to requests only by order. An answer that arrived before its request is then
    /// not the answer to it.
    fn answers_in_order(&self) -> bool {
        true
    }

    /// Returns true if there may be more to send than a request that has just begun: a reply to received bytes, or the
    /// rest of a body. [`Conversation::sent`] is called then.
    fn may_send(&self) -> bool {
        false
    }

    /// Returns true if something waits that the peer does not accept yet, although the transport would take it.
    #[inline]
    fn waits_for_window(&self) -> bool {
        false
    }

    /// Returns true if another request may begin. Without multiplexing: if none is in flight.
    fn has_room(&self) -> bool {
        self.in_flight() == 0 && !self.is_closing()
    }

    /// Returns the number of requests that may be in flight at once. Without multiplexing: one.
    fn capacity(&self) -> u64 {
        1
    }

    /// Returns the number of requests that the peer allows at once, if it has set a limit.
    fn peer_limit(&self) -> Option<u32> {
        None
    }

    fn in_flight(&self) -> usize;

    /// Returns true if no request may begin any more. The connection is closed when its last request has ended.
    fn is_closing(&self) -> bool;
}

/// A request that begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Beginning {
    pub(crate) tag: Tag,
    pub(crate) request: RequestId,
    pub(crate) arrival: Arrival,
    pub(crate) now: Timestamp,
}

/// Decision whether to continue reading from a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(crate) enum Flow {
    Continue,
    /// Close the connection, because the peer broke the rules.
    Close(Cause),
}

/// Kind of end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closed {
    EndOfStream {
        /// True if no third party can have cut the connection: it has no TLS, or TLS's own end arrived before.
        authentic: bool,
    },
    Reset,
    /// The bytes cannot be decrypted, or are an alert.
    Tls {
        /// True if the peer sent an alert, and so gave up.
        alert: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// The transport took the first byte of a request.
    Started(Tag),
    /// The transport took the last byte of a request, by a later call than the first.
    Sent(Tag),
    /// A part of a request was ready to be sent this long after it was due, because the worker was late.
    Late(Tag, Nanos),
    /// The first byte of an answer arrived.
    FirstByte(Tag),
    Ended(Ended),
    /// Bytes arrived without a request in flight.
    Stray,
    /// Something arrived that ended no request, such as a ping. The stamp of the read may be its own.
    Unasked,
    /// [`Conversation::capacity`] may have changed.
    RoomChanged,
    /// [`Conversation::is_closing`] is true from now on.
    GoingAway,
}

/// End of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ended {
    /// The tag given to [`Conversation::begin`].
    pub(crate) tag: Tag,
    pub(crate) outcome: Outcome,
    pub(crate) bytes_in: u64,
    /// Permission to send it again on another connection, without the server acting on it twice.
    pub(crate) retry: Retry,
}

/// Permission to send a failed request again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Retry {
    /// Not permitted: the server may have acted on it.
    No,
    /// Permitted: the transport took no byte of it.
    Unsent,
    /// Permitted: it was sent, but the server says that it did not act on it.
    Unprocessed,
}

impl Ended {
    /// Returns the end of a request that must not be sent again.
    pub(crate) fn new(tag: Tag, outcome: Outcome, bytes_in: u64) -> Ended {
        Ended { tag, outcome, bytes_in, retry: Retry::No }
    }
}

/// Events of conversations, in order, and the observer of answers, if there is one.
#[derive(Default)]
pub(crate) struct Events {
    list: Vec<Event>,
    observer: Option<Box<dyn AnswerReader>>,
    /// True if the observer must be told the arrival of what was read.
    wants_arrivals: bool,
    /// True if the observer has a script.
    is_scripted: bool,
    /// True if the observer has limits.
    has_limits: bool,
    /// True if the observer reads pushes.
    reads_pushes: bool,
    /// Room for the due times of branches.
    branches: Vec<Timestamp>,
}

impl Events {
    pub(crate) fn new(mut observer: Option<Box<dyn AnswerReader>>) -> Events {
        let wants_arrivals = observer.as_ref().is_some_and(|observer| observer.wants_arrivals());
        let is_scripted = observer.as_mut().is_some_and(|observer| observer.script().is_some());
        let has_limits = observer.as_mut().is_some_and(|observer| observer.limits().is_some());
        let reads_pushes = observer.as_mut().is_some_and(|observer| observer.pushes().is_some());
        Events {
            list: Vec::with_capacity(16),
            observer,
            wants_arrivals,
            is_scripted,
            has_limits,
            reads_pushes,
            branches: Vec::new(),
        }
    }

    /// Returns true if a request ended.
    pub(crate) fn has_end(&self) -> bool {
        self.list.iter().any(|event| matches!(event, Event::Ended(_)))
    }

    /// Returns true if sessions make requests one by one during the run, as a script says, rather than before it.
    #[inline]
    pub(crate) fn is_scripted(&self) -> bool {
        self.is_scripted
    }

    /// Makes the request of an arrival, as [`observer::RequestMaker::make`].
    ///
    /// # Panics
    /// If the observer makes no requests.
    pub(crate) fn make_request(&mut self, arrival: Arrival, request: &mut RequestParts) -> bool {
        let maker = self.observer.as_mut().and_then(|observer| observer.maker());
        maker.expect("a run that makes requests has an observer that does").make(arrival, request)
    }

    #[inline]
    pub(crate) fn wants_arrivals(&self) -> bool {
        self.wants_arrivals
    }

    /// Tells an observer that wants to know it that it is `now`.
    pub(crate) fn note_time(&mut self, now: Timestamp) {
        if self.wants_arrivals {
            self.arrived(now);
        }
    }

    /// Tells the observer that the following parts were read at once, and had arrived by `at`.
    pub(crate) fn arrived(&mut self, at: Timestamp) {
        if let Some(observer) = &mut self.observer {
            observer.arrive(at);
        }
    }

    #[inline]
    pub(crate) fn observe_begin(&mut self, tag: Tag, target: u32, arrival: Arrival) {
        if let Some(observer) = &mut self.observer {
            observer.begin(tag, target, arrival);
        }
    }

    /// Returns the script that decides the next requests of sessions.
    ///
    /// # Panics
    /// If the observer follows no script.
    pub(crate) fn script(&mut self) -> &mut dyn SessionScript {
        let script = self.observer.as_mut().and_then(|observer| observer.script());
        script.expect("a run whose sessions follow a script has an observer with one")
    }

    /// Returns when further requests of the session of `user` are due.
    ///
    /// # Panics
    /// If the observer follows no script.
    pub(crate) fn branches(&mut self, user: u32) -> impl Iterator<Item = Timestamp> {
        let script = self.observer.as_mut().and_then(|observer| observer.script());
        let script = script.expect("a run whose sessions follow a script has an observer with one");
        script.branches(user, &mut self.branches);
        self.branches.drain(..)
    }

    /// Returns true if an observer must be told of each arrival.
    pub(crate) fn are_observed(&self) -> bool {
        self.observer.is_some()
    }

    pub(crate) fn observe_never_issued(&mut self, target: u32, arrival: Arrival, now: Timestamp) {
        if let Some(observer) = &mut self.observer {
            observer.never_issued(target, arrival, now);
        }
    }

    fn limits(&mut self) -> Option<&mut dyn AnswerLimits> {
        if self.has_limits { self.observer.as_mut()?.limits() } else { None }
    }

    /// Returns the reader of pushes, if there is one.
    #[inline]
    pub(crate) fn pushes(&mut self) -> Option<&mut dyn PushReader> {
        if self.reads_pushes { self.observer.as_mut()?.pushes() } else { None }
    }

    /// Returns the earliest deadline of the observer's limits for a request.
    #[inline]
    pub(crate) fn first_deadline(&mut self) -> Timestamp {
        self.limits().map_or(Timestamp::NEVER, |limits| limits.first_deadline())
    }

    #[inline]
    pub(crate) fn overdue(&mut self, now: Timestamp) -> Option<Tag> {
        self.limits()?.overdue(now)
    }

    #[inline]
    pub(crate) fn push(&mut self, event: Event) {
        self.list.push(event);
    }

    #[inline]
    pub(crate) fn end(&mut self, ended: Ended) {
        self.list.push(Event::Ended(ended));
    }

    #[inline]
    pub(crate) fn observe_end(&mut self, tag: Tag, ended: EndedRequest) {
        if let Some(observer) = &mut self.observer {
            observer.end(tag, ended);
        }
    }

    pub(crate) fn finish_observing(&mut self, now: Timestamp) {
        if let Some(mut observer) = self.observer.take() {
            observer.finish(now);
        }
    }

    /// Replaces the outcome of all failed requests.
    pub(crate) fn replace_failures(&mut self, outcome: Outcome) {
        for event in &mut self.list {
            if let Event::Ended(ended) = event
                && ended.outcome.is_failed()
            {
                ended.outcome = outcome;
            }
        }
    }

    #[inline]
    pub(crate) fn head(&mut self, tag: Tag, head: AnswerHead<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.head(tag, head);
        }
    }

    /// Tells the observer a part of an answer's body, without the transfer coding.
    #[inline]
    pub(crate) fn body(&mut self, tag: Tag, part: &[u8]) {
        if let Some(observer) = &mut self.observer
            && !part.is_empty()
        {
            observer.body(tag, part);
        }
    }

    /// Tells the observer that a chunk of an answer's body is complete.
    #[inline]
    pub(crate) fn chunk_ended(&mut self, tag: Tag) {
        if let Some(observer) = &mut self.observer {
            observer.end_chunk(tag);
        }
    }

    /// Tells the observer a part of an answer's body, which ends a message if `ends`.
    #[inline]
    pub(crate) fn message_part(&mut self, tag: Tag, part: &[u8], ends: bool) {
        self.body(tag, part);
        if ends {
            self.message_ended(tag);
        }
    }

    /// Tells the observer that a message of an answer is complete: a part that the protocol itself delimits.
    #[inline]
    pub(crate) fn message_ended(&mut self, tag: Tag) {
        if let Some(observer) = &mut self.observer {
            observer.end_message(tag);
        }
    }

    /// Tells the observer the trailers of an answer, which follow its body.
    pub(crate) fn trailers(&mut self, tag: Tag, trailers: Trailers<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.trailers(tag, trailers);
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes all events. [`Events::restore`] gives the list back.
    #[inline]
    pub(crate) fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.list)
    }

    /// Puts back the list that was taken, to reuse its memory. Newer events stay.
    #[inline]
    pub(crate) fn restore(&mut self, mut list: Vec<Event>) {
        list.clear();
        list.append(&mut self.list);
        self.list = list;
    }
}
