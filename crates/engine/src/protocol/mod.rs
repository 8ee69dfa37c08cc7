//! The seam between a worker and what is spoken on its connections.
//!
//! A protocol is a state machine without I/O. A worker hands it requests to begin and bytes that came, and sends the bytes
//! that the protocol has ready; what becomes of the requests comes back as [`Event`]s. Time, sockets, TLS, timeouts and the
//! books are the worker's.
//!
//! To add a protocol: a folder here that implements [`Protocol`] and [`Session`], and an arm in `choice`, where the protocol
//! of a run is chosen. The suites in `tests` run over every protocol.

pub(crate) mod choice;
pub(crate) mod fields;
pub mod http1;
pub mod http2;
mod made_in_run;
pub(crate) mod observer;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;
use truetail_run::SkippedLines;

use crate::target::request_set::RequestId;

use observer::{AnswerHead, EndedRequest, Observer, SessionScript};

/// A request in flight, by its slot in the worker's table.
pub(crate) type Tag = u32;

/// What all connections of one worker that speak the protocol share.
pub(crate) trait Protocol: Debug + Sized {
    /// One connection.
    type Session: Session<Self>;

    /// A connection carries several requests at once. Requests are then spread over all connections, those that begin
    /// together are sent together, and the number that may be in flight is what the sessions allow. Without it a
    /// connection carries one request at a time, and the one that was used last is used next.
    const MULTIPLEXED: bool;
    /// Answers are matched to requests by their order alone, so that an answer which had arrived before its request was
    /// sent belongs to nobody.
    const MATCHED_BY_ORDER: bool;
    /// What the server must have agreed to by ALPN, where TLS is used, and why connecting failed if it did not.
    const REQUIRED_ALPN: Option<(&'static [u8], Cause)>;

    /// Requests are made one by one while the run goes on, as sessions of users need them, and not before it.
    const IS_SCRIPTED: bool = false;

    /// A session on a new connection.
    fn session(&self) -> Self::Session;

    /// The bytes of the request that user `user` makes next, to be overwritten. To be called only where
    /// [`Protocol::IS_SCRIPTED`].
    fn request_of(&mut self, user: u32) -> &mut Vec<u8> {
        unreachable!("requests were made before the run, and user {user} has none of its own")
    }

    /// The lines of answers that were skipped in the run, if there were any.
    fn take_skipped_lines(&mut self) -> Option<SkippedLines> {
        None
    }
}

/// One connection: its requests in flight, and what was sent and received on it.
pub(crate) trait Session<P>: Debug {
    /// Begins a request; its bytes are part of [`Session::output`] from here on. To be called only where
    /// [`Session::has_room`]. Returns the session's own key of the request, for [`Session::cancel`].
    fn begin(&mut self, protocol: &P, tag: Tag, request: RequestId, events: &mut Events) -> u32;

    /// Bytes to be sent next.
    fn output<'a>(&'a self, protocol: &'a P) -> &'a [u8];

    /// The transport took the first `count` bytes of the output, by one call. Called with 0 too, after something was
    /// received that may let more be sent.
    fn sent(&mut self, protocol: &P, count: usize, events: &mut Events);

    /// Takes bytes that came. On [`Flow::Close`] every request has ended, and the output holds what the peer is to be told.
    fn receive(&mut self, protocol: &mut P, bytes: &[u8], events: &mut Events) -> Flow;

    /// The connection is gone: every request that is still open ends.
    fn closed(&mut self, how: Closed, events: &mut Events);

    /// Gives up a request that has not ended, without an event for it. Returns how many bytes of its answer had come.
    fn cancel(&mut self, key: u32, events: &mut Events) -> u64;

    /// Adds to the output what is said before the connection is closed, if the protocol says anything.
    fn say_goodbye(&mut self) {}

    /// Another request may begin. Without multiplexing: none is under way.
    fn has_room(&self) -> bool {
        self.in_flight() == 0 && !self.is_closing()
    }

    /// How many requests may be in flight at once. Without multiplexing one.
    fn capacity(&self) -> u64 {
        1
    }

    /// How many requests the peer allows at once, where it has set a limit.
    fn peer_limit(&self) -> Option<u32> {
        None
    }

    /// Requests that have not ended.
    fn in_flight(&self) -> usize;

    /// Nothing begins any more; the connection is closed when its last request has ended.
    fn is_closing(&self) -> bool;
}

/// Whether a connection can be read on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(crate) enum Flow {
    /// It can.
    Continue,
    /// The peer broke the rules, in this way.
    Close(Cause),
}

/// How a connection came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closed {
    /// The peer closed it.
    EndOfStream {
        /// Nobody else can have cut it short: it was not secured, or TLS's own end was said before.
        authentic: bool,
    },
    /// The peer reset it.
    Reset,
    /// What came over TLS cannot be read.
    Tls {
        /// It is an alert, by which the peer gives up.
        alert: bool,
    },
}

/// Something that happened on a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// The transport took the first byte of a request.
    Started(Tag),
    /// The transport took the last byte of a request, by a later call than the first.
    Sent(Tag),
    /// The first byte of an answer came.
    FirstByte(Tag),
    /// A request ended.
    Ended(Ended),
    /// Bytes came that answer nothing.
    Stray,
    /// [`Session::capacity`] may have changed.
    RoomChanged,
    /// [`Session::is_closing`] is true from here on.
    GoingAway,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ended {
    /// As it was given to [`Session::begin`].
    pub(crate) tag: Tag,
    /// What became of it.
    pub(crate) outcome: Outcome,
    /// Bytes of its answer.
    pub(crate) bytes_in: u64,
    /// Whether it may be sent again on another connection, without the server acting on it twice.
    pub(crate) retry: Retry,
}

/// Whether a request that failed may be sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Retry {
    /// The server may have acted on it.
    No,
    /// The transport took nothing of it.
    Unsent,
    /// It was sent, and the server says that it did not act on it.
    Unprocessed,
}

impl Ended {
    /// It ended for good.
    pub(crate) fn new(tag: Tag, outcome: Outcome, bytes_in: u64) -> Ended {
        Ended { tag, outcome, bytes_in, retry: Retry::No }
    }
}

/// Where sessions put what happened, in order; and the observer of answers, where there is one.
#[derive(Default)]
pub(crate) struct Events {
    list: Vec<Event>,
    observer: Option<Box<dyn Observer>>,
    /// The observer is to be told when what was read had arrived.
    wants_arrivals: bool,
}

impl Events {
    /// None yet, with an observer of answers or without one.
    pub(crate) fn new(observer: Option<Box<dyn Observer>>) -> Events {
        let wants_arrivals = observer.as_ref().is_some_and(|observer| observer.wants_arrivals());
        Events { list: Vec::with_capacity(16), observer, wants_arrivals }
    }

    /// The observer is to be told when what was read had arrived.
    #[inline]
    pub(crate) fn wants_arrivals(&self) -> bool {
        self.wants_arrivals
    }

    /// What comes next was read at once, and had arrived by `at`.
    pub(crate) fn arrived(&mut self, at: Timestamp) {
        if let Some(observer) = &mut self.observer {
            observer.arrived(at);
        }
    }

    /// A request begins.
    #[inline]
    pub(crate) fn observe_begin(&mut self, tag: Tag, target: u32, arrival: Arrival) {
        if let Some(observer) = &mut self.observer {
            observer.begin(tag, target, arrival);
        }
    }

    /// What the sessions of users do next.
    ///
    /// # Panics
    /// Where the observer follows no script.
    pub(crate) fn script(&mut self) -> &mut dyn SessionScript {
        let script = self.observer.as_mut().and_then(|observer| observer.script());
        script.expect("a run whose sessions follow a script has an observer with one")
    }

    /// An observer is to be told of each arrival.
    pub(crate) fn are_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// An arrival is never issued.
    pub(crate) fn observe_never_issued(&mut self, target: u32, arrival: Arrival, now: Timestamp) {
        if let Some(observer) = &mut self.observer {
            observer.never_issued(target, arrival, now);
        }
    }

    /// When the observer gives up the first request.
    #[inline]
    pub(crate) fn first_deadline(&self) -> Timestamp {
        self.observer.as_ref().map_or(Timestamp::NEVER, |observer| observer.first_deadline())
    }

    /// A request that the observer gives up at `now`.
    #[inline]
    pub(crate) fn overdue(&mut self, now: Timestamp) -> Option<Tag> {
        self.observer.as_mut()?.overdue(now)
    }

    /// Adds what happened.
    #[inline]
    pub(crate) fn push(&mut self, event: Event) {
        self.list.push(event);
    }

    /// A session says that a request ended.
    #[inline]
    pub(crate) fn end(&mut self, ended: Ended) {
        self.list.push(Event::Ended(ended));
    }

    /// A request ended for good: whoever observes answers is told.
    #[inline]
    pub(crate) fn observe_end(&mut self, tag: Tag, ended: EndedRequest) {
        if let Some(observer) = &mut self.observer {
            observer.end(tag, ended);
        }
    }

    /// Nothing is observed any more.
    pub(crate) fn finish_observing(&mut self, now: Timestamp) {
        if let Some(mut observer) = self.observer.take() {
            observer.finish(now);
        }
    }

    /// What has failed has failed in this way.
    pub(crate) fn replace_failures(&mut self, outcome: Outcome) {
        for event in &mut self.list {
            if let Event::Ended(ended) = event
                && ended.outcome.is_failed()
            {
                ended.outcome = outcome;
            }
        }
    }

    /// The head of a final answer came.
    #[inline]
    pub(crate) fn head(&mut self, tag: Tag, head: AnswerHead<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.head(tag, head);
        }
    }

    /// A part of an answer's body came, without its transfer coding.
    #[inline]
    pub(crate) fn body(&mut self, tag: Tag, part: &[u8]) {
        if let Some(observer) = &mut self.observer
            && !part.is_empty()
        {
            observer.body(tag, part);
        }
    }

    /// A chunk of an answer's body is whole.
    #[inline]
    pub(crate) fn chunk_ended(&mut self, tag: Tag) {
        if let Some(observer) = &mut self.observer {
            observer.chunk_ended(tag);
        }
    }

    /// Nothing happened since the events were last taken.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes all events out. [`Events::restore`] gives their room back.
    #[inline]
    pub(crate) fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.list)
    }

    /// The list that was taken, to be filled again. Events that came meanwhile stay.
    #[inline]
    pub(crate) fn restore(&mut self, mut list: Vec<Event>) {
        list.clear();
        list.append(&mut self.list);
        self.list = list;
    }
}
