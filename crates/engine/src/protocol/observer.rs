//! For whoever wants to see answers, and not only when they came.

use std::fmt;
use std::sync::Arc;

use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};

use super::fields::FieldList;
use super::http1::head_fields;
use crate::target::request_set::RequestId;

/// Sees the answers of one worker while they are read. Without an observer bodies are counted and forgotten.
///
/// `request` is a number that stands for one request from its start to its end, and for another one after that.
/// An observer delays the worker, so it has to be quick. It delays no end of an answer that was read: that instant is known
/// before the observer sees it.
pub trait Observer: Send {
    /// A request of this target begins, for this arrival.
    fn begin(&mut self, request: u32, target: u32, arrival: Arrival) {
        let _ = (request, target, arrival);
    }
    /// Is [`Observer::arrived`] to be called? Asked once, before the run.
    fn wants_arrivals(&self) -> bool {
        false
    }
    /// Something was read, and what is reported next was in it: its last byte had reached this host at `at`.
    fn arrived(&mut self, at: Timestamp) {
        let _ = at;
    }
    /// The head of a final answer came.
    fn head(&mut self, request: u32, head: AnswerHead<'_>);
    /// A part of the body came; its transfer coding is taken off, its content coding is not.
    fn body(&mut self, request: u32, part: &[u8]);
    /// A chunk of the body is whole, or in HTTP/2 a frame of data; the last, empty chunk apart.
    fn chunk_ended(&mut self, request: u32) {
        let _ = request;
    }
    /// When the observer gives up the first of the requests that it would give up, if nothing comes before.
    fn first_deadline(&self) -> Timestamp {
        Timestamp::NEVER
    }
    /// A request that is to be given up at `now`, because its answer has stood still for too long.
    fn overdue(&mut self, now: Timestamp) -> Option<u32> {
        let _ = now;
        None
    }
    /// The request ended, in whatever way; also where no head came.
    fn end(&mut self, request: u32, ended: EndedRequest);
    /// The run ended at `now` before this arrival was issued, which would have been one of `target`.
    fn never_issued(&mut self, target: u32, arrival: Arrival, now: Timestamp) {
        let _ = (target, arrival, now);
    }
    /// What sessions of users do, where the observer decides that.
    fn script(&mut self) -> Option<&mut dyn SessionScript> {
        None
    }
    /// The worker has ended, at `now`: nothing comes after this.
    fn finish(&mut self, now: Timestamp) {
        let _ = now;
    }
}

/// What a session asks for next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextRequest {
    /// Its step, a target of the requests of the run.
    pub target: u32,
    /// The number of the origin that it goes to. An answer may lead a step to another one.
    pub origin: u32,
}

/// Decides what sessions of users ask for, one request after the other. A user stands for one session from its first request
/// to its end, and for another one after that.
pub trait SessionScript {
    /// A request of the session of `user` begins: `request` is overwritten with its bytes in HTTP/1.1, whichever version is
    /// spoken. Where the last session of this user has ended, this is the first request of session `number`.
    /// [`Observer::begin`] follows at once.
    ///
    /// `None`: a session that was to begin asks for nothing. [`SessionScript::never_issued`] follows at once, and the session
    /// has ended.
    fn next_request(&mut self, user: u32, number: u64, arrival: Arrival, request: &mut Vec<u8>) -> Option<NextRequest>;

    /// The request of this user has ended, and [`Observer::end`] was called for it: how long the user thinks before the next
    /// one; `None`: the session has ended.
    fn think(&mut self, user: u32) -> Option<Nanos>;

    /// The run ended at `now` before this arrival was issued, or its session asked for nothing. `user`: whose session it
    /// belongs to; `None` where there was no time for any. `number`: that of its session. Returns the step that it would have been.
    fn never_issued(&mut self, user: Option<u32>, number: u64, arrival: Arrival, now: Timestamp) -> u32;
}

/// The head of a final answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerHead<'a> {
    /// HTTP status, 200 to 999.
    pub status: u16,
    fields: HeadFields<'a>,
}

/// What a head of HTTP/1.0 begins with.
const HTTP_1_0: &[u8] = b"HTTP/1.0";

/// Header fields, in the form in which a protocol has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeadFields<'a> {
    /// The bytes of a head of HTTP/1.1, which are parsed for whoever asks.
    Http1(&'a [u8]),
    /// Decoded fields.
    Decoded(&'a FieldList),
    /// The protocol has none, or was not told to keep them.
    None,
}

impl<'a> AnswerHead<'a> {
    pub(crate) fn new(status: u16, fields: HeadFields<'a>) -> AnswerHead<'a> {
        AnswerHead { status, fields }
    }

    /// A head with these fields: for whoever drives an observer without a worker.
    pub fn with_fields(status: u16, fields: &'a FieldList) -> AnswerHead<'a> {
        AnswerHead { status, fields: HeadFields::Decoded(fields) }
    }

    /// A head of which only the status is known: for tests of observers.
    pub fn without_fields(status: u16) -> AnswerHead<'static> {
        AnswerHead { status, fields: HeadFields::None }
    }

    /// The version of HTTP that the server says it speaks: `1.0`, `1.1` or `2`; `None` where no head was kept.
    pub fn version(&self) -> Option<&'static str> {
        match self.fields {
            HeadFields::Http1(bytes) => Some(if bytes.starts_with(HTTP_1_0) { "1.0" } else { "1.1" }),
            HeadFields::Decoded(_) => Some("2"),
            HeadFields::None => None,
        }
    }

    /// Puts the header fields into `list`, in place of what is in it.
    pub fn copy_fields(&self, list: &mut FieldList) {
        list.clear();
        match self.fields {
            HeadFields::Http1(bytes) => head_fields(bytes, list),
            HeadFields::Decoded(fields) => list.clone_from(fields),
            HeadFields::None => {}
        }
    }
}

/// A request that ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndedRequest {
    /// The arrival that it was sent for.
    pub arrival: Arrival,
    /// Its target and its row.
    pub id: RequestId,
    /// What became of it.
    pub outcome: Outcome,
    /// Its actual start, as its record has it.
    pub start: Timestamp,
    /// When it ended, as its record has it.
    pub end: Timestamp,
}

/// Two observers of the same answers.
struct Both(Box<dyn Observer>, Box<dyn Observer>);

impl Observer for Both {
    fn begin(&mut self, request: u32, target: u32, arrival: Arrival) {
        self.0.begin(request, target, arrival);
        self.1.begin(request, target, arrival);
    }

    fn wants_arrivals(&self) -> bool {
        self.0.wants_arrivals() || self.1.wants_arrivals()
    }

    fn arrived(&mut self, at: Timestamp) {
        self.0.arrived(at);
        self.1.arrived(at);
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        self.0.head(request, head);
        self.1.head(request, head);
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        self.0.body(request, part);
        self.1.body(request, part);
    }

    fn chunk_ended(&mut self, request: u32) {
        self.0.chunk_ended(request);
        self.1.chunk_ended(request);
    }

    fn first_deadline(&self) -> Timestamp {
        self.0.first_deadline().min(self.1.first_deadline())
    }

    fn overdue(&mut self, now: Timestamp) -> Option<u32> {
        self.0.overdue(now).or_else(|| self.1.overdue(now))
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

    fn finish(&mut self, now: Timestamp) {
        self.0.finish(now);
        self.1.finish(now);
    }
}

/// Makes the observer of each worker.
#[derive(Clone)]
pub struct ObserverFactory {
    make: Arc<dyn Fn() -> Box<dyn Observer> + Send + Sync>,
    follows_script: bool,
}

impl ObserverFactory {
    /// Calls `make` once for each worker, before the run.
    pub fn new(make: impl Fn() -> Box<dyn Observer> + Send + Sync + 'static) -> ObserverFactory {
        ObserverFactory { make: Arc::new(make), follows_script: false }
    }

    /// The same with observers that have a [`SessionScript`], which sessions of the partly open model follow.
    pub fn of_script(make: impl Fn() -> Box<dyn Observer> + Send + Sync + 'static) -> ObserverFactory {
        ObserverFactory { make: Arc::new(make), follows_script: true }
    }

    /// Its observers have a script.
    pub fn follows_script(&self) -> bool {
        self.follows_script
    }

    /// Both observers see each answer, this one first.
    #[must_use]
    pub fn and(self, other: ObserverFactory) -> ObserverFactory {
        let follows_script = self.follows_script || other.follows_script;
        let both = ObserverFactory::new(move || Box::new(Both(self.observer(), other.observer())));
        ObserverFactory { follows_script, ..both }
    }

    /// The observer of one worker. The engine asks for them; others may, to drive one without a worker.
    pub fn observer(&self) -> Box<dyn Observer> {
        (self.make)()
    }
}

impl fmt::Debug for ObserverFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ObserverFactory")
    }
}
