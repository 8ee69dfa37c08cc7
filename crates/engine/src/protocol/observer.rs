//! Observers of the requests of a worker.
//!
//! [`AnswerReader`] reads answers, [`SessionScript`] makes the next request of a session, [`RequestMaker`] makes the
//! request of an arrival, and [`AnswerLimits`] gives up requests. All of them depend on the answers that were read, so
//! a reader provides them: [`AnswerReader::script`], [`AnswerReader::maker`] and [`AnswerReader::limits`].

use std::fmt;
use std::sync::Arc;

use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};

use super::fields::FieldList;
use super::http1::{head_fields, values_in_head};
use super::push_reader::PushReader;
use crate::target::fields::{lines, name_and_value};
use crate::target::method::is_token;
use crate::target::request_parts::RequestParts;
use crate::target::request_set::RequestId;

/// Reader of the answers of one worker while they arrive. Without one, bodies are counted and dropped.
///
/// `request` is a number that means one request from its start to its end, and may be reused afterwards. A reader
/// delays the worker, so it must be quick. The measured end of an answer is known before the reader sees it.
pub trait AnswerReader: Send {
    /// Called when a request of this target begins for this arrival.
    fn begin(&mut self, request: u32, target: u32, arrival: Arrival) {
        let _ = (request, target, arrival);
    }
    /// Returns true if [`AnswerReader::arrive`] must be called. Asked once, before the run.
    fn wants_arrivals(&self) -> bool {
        false
    }
    /// Called after a read: the parts reported next were in it, and its last byte reached this host at `at`.
    fn arrive(&mut self, at: Timestamp) {
        let _ = at;
    }
    /// Called with the head of a final answer.
    fn head(&mut self, request: u32, head: AnswerHead<'_>);
    /// Called with a part of the body, without transfer coding but with its content coding.
    fn body(&mut self, request: u32, part: &[u8]);
    /// Called when a chunk of the body, or in HTTP/2 a data frame, is complete; not for the last, empty chunk.
    fn end_chunk(&mut self, request: u32) {
        let _ = request;
    }
    /// Called when a message of the answer is complete: a part that the protocol itself delimits, unlike HTTP.
    fn end_message(&mut self, request: u32) {
        let _ = request;
    }
    /// Called with the trailers of an answer, after its body and before its end; not if there are none.
    fn trailers(&mut self, request: u32, trailers: Trailers<'_>) {
        let _ = (request, trailers);
    }
    /// Called when a request ended, with any outcome, even without a head.
    fn end(&mut self, request: u32, ended: EndedRequest);
    /// Called if the run ended at `now` before this arrival of `target` was issued.
    fn never_issued(&mut self, target: u32, arrival: Arrival, now: Timestamp) {
        let _ = (target, arrival, now);
    }
    /// Returns the script of sessions, if what is read decides what sessions do. Asked before the run whether there is
    /// one.
    fn script(&mut self) -> Option<&mut dyn SessionScript> {
        None
    }
    /// Returns the maker of requests, if the request of each arrival is made during the run. Asked before the run
    /// whether there is one. A reader has a script or a maker, never both.
    fn maker(&mut self) -> Option<&mut dyn RequestMaker> {
        None
    }
    /// Returns the limits, if what is read decides when a request is given up. Asked before the run whether there are
    /// any.
    fn limits(&mut self) -> Option<&mut dyn AnswerLimits> {
        None
    }
    /// Returns the reader of pushes, if pushes are read. Asked before the run whether there is one.
    fn pushes(&mut self) -> Option<&mut dyn PushReader> {
        None
    }
    /// Called when the worker has ended, at `now`. Nothing follows.
    fn finish(&mut self, now: Timestamp) {
        let _ = now;
    }
}

/// The next request of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextRequest {
    /// The step: an index into the targets of the run.
    pub target: u32,
    /// The index of the request's origin. An answer may lead a step to another origin.
    pub origin: u32,
}

/// Script that decides the requests of sessions. A user number means one session from its first request to
/// its end, and may be reused afterwards.
pub trait SessionScript {
    /// Makes the next request of the session of `user`: overwrites `request` with it. If the last session of this user
    /// has ended, this is the first request of session `number`. [`AnswerReader::begin`] follows at once.
    ///
    /// Returns `None` if a session that should have begun makes no request. [`SessionScript::never_issued`] follows at
    /// once, and the session has ended.
    fn next_request(
        &mut self,
        user: u32,
        number: u64,
        arrival: Arrival,
        request: &mut RequestParts,
    ) -> Option<NextRequest>;

    /// Returns the time from the end of the request of this user that ended last until the next request; `None`: none
    /// follows from it, and the session has ended unless other requests of it are in flight or planned. Called after
    /// [`AnswerReader::end`].
    fn think(&mut self, user: u32) -> Option<Nanos>;

    /// Adds to `due` when further requests of the session of this user are due, so that several are in flight at the
    /// same time. [`SessionScript::next_request`] makes them in the order in which they are due. Called after
    /// [`SessionScript::think`], and after each [`AnswerReader::begin`]: the first request of a session may have others
    /// beside it.
    fn branches(&mut self, user: u32, due: &mut Vec<Timestamp>) {
        let _ = (user, due);
    }

    /// Called if the run ended at `now` before this arrival was issued, or if its session made no request. `user` is
    /// the user of the arrival's session, or `None` if it did not begin; `number` is the session's number. Returns the
    /// step that was not issued.
    fn never_issued(&mut self, user: Option<u32>, number: u64, arrival: Arrival, now: Timestamp) -> u32;
}

/// Maker of the requests of single arrivals. It decides the content of a request, and never its time.
pub trait RequestMaker {
    /// Makes the request of this arrival: overwrites `request` with it, or with its text in HTTP/1.1, which
    /// [`RequestParts::message_buffer`] takes. [`AnswerReader::begin`] follows at once. Returns false if there is no
    /// request. The arrival then counts as never issued, and [`AnswerReader::never_issued`] follows.
    fn make(&mut self, arrival: Arrival, request: &mut RequestParts) -> bool;
}

/// Limits on the progress of answers, in addition to the timeout of the run.
pub trait AnswerLimits {
    /// Returns the instant when a request will next be given up, unless something arrives before.
    fn first_deadline(&mut self) -> Timestamp;

    /// Returns a request to give up at `now`, because its answer has made no progress for too long. Asked again after
    /// what had arrived was read.
    fn overdue(&mut self, now: Timestamp) -> Option<u32>;
}

/// The head of a final answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerHead<'a> {
    /// HTTP status, from 200 to 999; `None` in a protocol without a status.
    pub status: Option<u16>,
    fields: HeadFields<'a>,
}

const HTTP_1_0: &[u8] = b"HTTP/1.0";

/// Header fields in the form that a protocol has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeadFields<'a> {
    /// The bytes of a head of HTTP/1.1, which are parsed on request.
    Http1(&'a [u8]),
    Decoded(&'a FieldList),
    /// The protocol has no fields, or was not told to keep them.
    None,
}

impl<'a> AnswerHead<'a> {
    /// The head of an answer whose protocol has neither a status nor fields.
    pub(crate) const EMPTY: AnswerHead<'static> = AnswerHead { status: None, fields: HeadFields::None };

    pub(crate) fn new(status: u16, fields: HeadFields<'a>) -> AnswerHead<'a> {
        AnswerHead { status: Some(status), fields }
    }

    /// Returns a head with these fields, to drive an observer without a worker.
    pub fn with_fields(status: u16, fields: &'a FieldList) -> AnswerHead<'a> {
        AnswerHead::new(status, HeadFields::Decoded(fields))
    }

    /// Returns a head of HTTP/1.1 that was parsed before, to drive an observer without a worker.
    pub fn with_text(status: u16, text: &'a [u8]) -> AnswerHead<'a> {
        AnswerHead::new(status, HeadFields::Http1(text))
    }

    /// Returns a head without fields, for tests of observers.
    pub fn without_fields(status: u16) -> AnswerHead<'static> {
        AnswerHead::new(status, HeadFields::None)
    }

    /// Returns the version of HTTP in the server's answer: `1.0`, `1.1` or `2`; `None` if no head was kept.
    pub fn version(&self) -> Option<&'static str> {
        match self.fields {
            HeadFields::Http1(bytes) => Some(if bytes.starts_with(HTTP_1_0) { "1.0" } else { "1.1" }),
            HeadFields::Decoded(_) => Some("2"),
            HeadFields::None => None,
        }
    }

    /// Calls `found` with the value of each field whose name is `name`, in any case. Costs less than
    /// [`AnswerHead::copy_fields`].
    pub fn each_value(&self, name: &str, found: &mut dyn FnMut(&[u8])) {
        match self.fields {
            HeadFields::Http1(bytes) => values_in_head(bytes, &[name], &mut |_, value| found(value)),
            HeadFields::Decoded(fields) => fields.all(name).for_each(found),
            HeadFields::None => {}
        }
    }

    /// Calls `found` with the values of several names, one name after the other or in the order of the fields, and with
    /// the place of the name in `names`. Looks at a head of HTTP/1.1 once.
    pub fn each_value_of(&self, names: &[String], found: &mut dyn FnMut(usize, &[u8])) {
        match self.fields {
            HeadFields::Http1(bytes) => values_in_head(bytes, names, found),
            HeadFields::Decoded(fields) => {
                let places = names.iter().enumerate();
                places.for_each(|(nth, name)| fields.all(name).for_each(|value| found(nth, value)));
            }
            HeadFields::None => {}
        }
    }

    /// Returns the head as it came, from its status line to its empty line; `None` if the protocol has it in another
    /// form. Two heads with equal text have equal fields.
    pub fn text(&self) -> Option<&'a [u8]> {
        match self.fields {
            HeadFields::Http1(bytes) => Some(bytes),
            HeadFields::Decoded(_) | HeadFields::None => None,
        }
    }

    /// Replaces the contents of `list` by the header fields.
    pub fn copy_fields(&self, list: &mut FieldList) {
        list.clear();
        match self.fields {
            HeadFields::Http1(bytes) => head_fields(bytes, list),
            HeadFields::Decoded(fields) => list.clone_from(fields),
            HeadFields::None => {}
        }
    }
}

/// The trailers of an answer: fields that follow its body (RFC 9110, section 6.5).
#[derive(Clone, Copy, Debug)]
pub struct Trailers<'a>(TrailerFields<'a>);

#[derive(Clone, Copy, Debug)]
enum TrailerFields<'a> {
    /// Lines of HTTP/1.1, which are parsed on request.
    Lines(&'a [u8]),
    Decoded(&'a FieldList),
}

impl<'a> Trailers<'a> {
    pub(crate) fn from_lines(lines: &'a [u8]) -> Trailers<'a> {
        Trailers(TrailerFields::Lines(lines))
    }

    /// Returns trailers with these fields, also to drive an observer without a worker.
    pub fn with_fields(fields: &'a FieldList) -> Trailers<'a> {
        Trailers(TrailerFields::Decoded(fields))
    }

    /// Replaces the contents of `list` by the fields. Lines that are no fields are left out.
    pub fn copy_fields(&self, list: &mut FieldList) {
        list.clear();
        match self.0 {
            TrailerFields::Lines(bytes) => {
                let fields = lines(bytes).filter(|line| line.contains(&b':')).map(name_and_value);
                let fields = fields.filter(|(name, _)| std::str::from_utf8(name).is_ok_and(is_token));
                fields.for_each(|(name, value)| list.push(name, value));
            }
            TrailerFields::Decoded(fields) => list.clone_from(fields),
        }
    }
}

/// A request that ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndedRequest {
    /// The arrival of the request.
    pub arrival: Arrival,
    /// Target and row.
    pub id: RequestId,
    /// Outcome of the request, as its record has it.
    pub outcome: Outcome,
    /// Actual start, equal to that of its record.
    pub start: Timestamp,
    /// End, equal to that of its record.
    pub end: Timestamp,
}

/// Combines two readers. Both see each answer, `first` before `second`.
pub fn both_readers(first: Box<dyn AnswerReader>, second: Box<dyn AnswerReader>) -> Box<dyn AnswerReader> {
    Box::new(Both(first, second))
}

struct Both(Box<dyn AnswerReader>, Box<dyn AnswerReader>);

impl AnswerReader for Both {
    fn begin(&mut self, request: u32, target: u32, arrival: Arrival) {
        self.0.begin(request, target, arrival);
        self.1.begin(request, target, arrival);
    }

    fn wants_arrivals(&self) -> bool {
        self.0.wants_arrivals() || self.1.wants_arrivals()
    }

    fn arrive(&mut self, at: Timestamp) {
        self.0.arrive(at);
        self.1.arrive(at);
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        self.0.head(request, head);
        self.1.head(request, head);
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        self.0.body(request, part);
        self.1.body(request, part);
    }

    fn end_chunk(&mut self, request: u32) {
        self.0.end_chunk(request);
        self.1.end_chunk(request);
    }

    fn end_message(&mut self, request: u32) {
        self.0.end_message(request);
        self.1.end_message(request);
    }

    fn trailers(&mut self, request: u32, trailers: Trailers<'_>) {
        self.0.trailers(request, trailers);
        self.1.trailers(request, trailers);
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        self.0.end(request, ended);
        self.1.end(request, ended);
    }

    fn never_issued(&mut self, target: u32, arrival: Arrival, now: Timestamp) {
        self.0.never_issued(target, arrival, now);
        self.1.never_issued(target, arrival, now);
    }

    fn script(&mut self) -> Option<&mut dyn SessionScript> {
        self.0.script().or_else(|| self.1.script())
    }

    fn maker(&mut self) -> Option<&mut dyn RequestMaker> {
        self.0.maker().or_else(|| self.1.maker())
    }

    fn limits(&mut self) -> Option<&mut dyn AnswerLimits> {
        let has_some = self.0.limits().is_some() || self.1.limits().is_some();
        has_some.then_some(self as &mut dyn AnswerLimits)
    }

    fn pushes(&mut self) -> Option<&mut dyn PushReader> {
        self.0.pushes().or_else(|| self.1.pushes())
    }

    fn finish(&mut self, now: Timestamp) {
        self.0.finish(now);
        self.1.finish(now);
    }
}

impl AnswerLimits for Both {
    fn first_deadline(&mut self) -> Timestamp {
        let first = |reader: &mut dyn AnswerReader| reader.limits().map(|limits| limits.first_deadline());
        let deadlines = [first(&mut *self.0), first(&mut *self.1)];
        deadlines.into_iter().flatten().min().unwrap_or(Timestamp::NEVER)
    }

    fn overdue(&mut self, now: Timestamp) -> Option<u32> {
        let first = self.0.limits().and_then(|limits| limits.overdue(now));
        first.or_else(|| self.1.limits().and_then(|limits| limits.overdue(now)))
    }
}

/// Makes the observer of each worker.
#[derive(Clone)]
pub struct ObserverFactory {
    make: Arc<dyn Fn() -> Box<dyn AnswerReader> + Send + Sync>,
    follows_script: bool,
    makes_requests: bool,
}

impl ObserverFactory {
    /// Calls `make` once for each worker, before the run.
    pub fn new(make: impl Fn() -> Box<dyn AnswerReader> + Send + Sync + 'static) -> ObserverFactory {
        ObserverFactory { make: Arc::new(make), follows_script: false, makes_requests: false }
    }

    /// Makes observers with a [`SessionScript`] for the partly open model. Calls `make` once for each worker.
    pub fn with_script(make: impl Fn() -> Box<dyn AnswerReader> + Send + Sync + 'static) -> ObserverFactory {
        ObserverFactory { follows_script: true, ..ObserverFactory::new(make) }
    }

    /// Makes observers with a [`RequestMaker`], for requests of HTTP/1.1. Calls `make` once for each worker.
    pub fn with_maker(make: impl Fn() -> Box<dyn AnswerReader> + Send + Sync + 'static) -> ObserverFactory {
        ObserverFactory { makes_requests: true, ..ObserverFactory::new(make) }
    }

    /// Returns true if the observers have a script.
    pub fn follows_script(&self) -> bool {
        self.follows_script
    }

    /// Returns true if the observers make the request of each arrival.
    pub fn makes_requests(&self) -> bool {
        self.makes_requests
    }

    /// Combines two observers. Both see each answer, this one first.
    #[must_use]
    pub fn and(self, other: ObserverFactory) -> ObserverFactory {
        let follows_script = self.follows_script || other.follows_script;
        let makes_requests = self.makes_requests || other.makes_requests;
        let both = ObserverFactory::new(move || both_readers(self.observer(), other.observer()));
        ObserverFactory { follows_script, makes_requests, ..both }
    }

    /// Returns the observer of one worker. Other callers may use it to drive an observer without a worker.
    pub fn observer(&self) -> Box<dyn AnswerReader> {
        (self.make)()
    }
}

impl fmt::Debug for ObserverFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ObserverFactory")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives up request `nth` at an instant, if it has one.
    struct Limited {
        nth: u32,
        at: Option<Timestamp>,
    }

    impl AnswerReader for Limited {
        fn head(&mut self, _: u32, _: AnswerHead<'_>) {}

        fn body(&mut self, _: u32, _: &[u8]) {}

        fn end(&mut self, _: u32, _: EndedRequest) {}

        fn limits(&mut self) -> Option<&mut dyn AnswerLimits> {
            self.at.is_some().then_some(self as &mut dyn AnswerLimits)
        }
    }

    impl AnswerLimits for Limited {
        fn first_deadline(&mut self) -> Timestamp {
            self.at.expect("limits only with an instant")
        }

        fn overdue(&mut self, now: Timestamp) -> Option<u32> {
            self.at.filter(|at| *at <= now).map(|_| self.nth)
        }
    }

    #[test]
    fn of_two_readers_the_first_deadline_counts() {
        let both = |first: Option<u64>, second: Option<u64>| {
            let [first, second] = [(1, first), (2, second)].map(|(nth, at)| Limited { nth, at: at.map(Timestamp) });
            Both(Box::new(first), Box::new(second))
        };
        assert!(both(None, None).limits().is_none());
        for (first, second, at, nth) in [(Some(5), None, 5, 1), (None, Some(7), 7, 2), (Some(9), Some(8), 8, 2)] {
            let mut both = both(first, second);
            let limits = both.limits().expect("one has some");
            assert_eq!((limits.first_deadline(), limits.overdue(Timestamp(at - 1))), (Timestamp(at), None));
            assert_eq!(limits.overdue(Timestamp(at)), Some(nth));
        }
    }
}
