//! Events of conversations, and the observer of answers, if there is one.

use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};

use super::Tag;
use super::observer::{AnswerHead, AnswerLimits, AnswerReader, EndedRequest, SessionScript, Trailers};
use super::push_reader::PushReader;
use crate::target::request_parts::RequestParts;

/// An event of a conversation.
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
    /// [`Conversation::capacity`](super::Conversation::capacity) may have changed.
    RoomChanged,
    /// [`Conversation::is_closing`](super::Conversation::is_closing) is true from now on.
    GoingAway,
}

/// End of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ended {
    /// The tag given to [`Conversation::begin`](super::Conversation::begin).
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

    /// Makes the request of an arrival, as [`RequestMaker::make`](super::observer::RequestMaker::make).
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
