use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{
    AnswerHead, AnswerLimits, AnswerReader, EndedRequest, NextRequest, RequestParts, SessionScript, Trailers,
};
use truetail_model::arrival::Arrival;
use truetail_model::record::{GrpcStatus, Outcome};
use truetail_model::time::{Nanos, Timestamp};

use crate::evaluate::answer::Answer;
use crate::flows::Flows;
use crate::judge::EarlyEndReason;
use crate::measured::{MeasuredFlows, SessionResults};
use crate::reading::Readings;
use crate::session::Session;

/// State that all workers of a run share.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) flows: Flows,
    /// Start of the run in seconds since 1970.
    pub(crate) began_unix_s: i64,
    /// Sessions that arrive before this are not counted.
    pub(crate) measure_from: Timestamp,
    pub(crate) seed: u64,
}

/// The sessions of one worker of the engine.
#[derive(Debug)]
pub(crate) struct FlowScript {
    plan: Arc<Plan>,
    all_found: Arc<Mutex<SessionResults>>,
    measured: MeasuredFlows,
    /// By user.
    sessions: Vec<Session>,
    readings: Readings,
    /// The user whose request begins next.
    beginning: u32,
    /// Deadlines of the open requests, by time and request.
    limits: BTreeSet<(Timestamp, u32)>,
}

impl FlowScript {
    /// Creates a script that adds its results to `all_found` when it finishes.
    pub(crate) fn new(plan: Arc<Plan>, all_found: Arc<Mutex<SessionResults>>) -> FlowScript {
        FlowScript {
            measured: MeasuredFlows::new(plan.flows.itineraries(), plan.measure_from),
            plan,
            all_found,
            sessions: Vec::new(),
            readings: Readings::default(),
            beginning: 0,
            limits: BTreeSet::new(),
        }
    }

    /// Judges an answer with this recorded status. A call has one even without a head.
    fn judge(&mut self, request: u32, user: u32, recorded: u16, ended: &EndedRequest) {
        let reading = self.readings.get_mut(request);
        let duration = ended.end.since(ended.arrival.intended_start);
        let is_whole = reading.is_whole();
        let plan = &*self.plan;
        let session = &mut self.sessions[user as usize];
        let flow = plan.flows.get(session.course.flow);
        let step = session.course.last_step(flow);
        let call = step.call();
        let message = call.filter(|_| step.reading.needs_body && is_whole).and_then(|call| call.message(reading));
        let body = message.as_ref().map_or(&reading.body[..], String::as_bytes);
        let status = reading.status.unwrap_or(recorded);
        let answer = Answer::new(status, reading.version, &reading.fields, body, duration);
        let answer = match call.and_then(|_| GrpcStatus::of_recorded(recorded)) {
            Some(status) => answer.of_call(status),
            None => answer,
        };
        let disappointment = session.answered(flow, &answer, is_whole, (ended.start, ended.end));
        if let Some(EarlyEndReason { why, .. }) = disappointment {
            self.measured.record_early_end(&session.course, why);
        }
    }
}

impl AnswerReader for FlowScript {
    fn begin(&mut self, request: u32, _: u32, arrival: Arrival) {
        let user = self.beginning;
        let session = &self.sessions[user as usize];
        let step = session.course.last_step(self.plan.flows.get(session.course.flow));
        let limit = step.max_time.map(|time| arrival.intended_start + time);
        self.readings.begin(request, user, step.reading.needs_body, limit);
        self.limits.extend(limit.map(|limit| (limit, request)));
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        self.readings.head(request, head);
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        self.readings.body(request, part);
    }

    fn trailers(&mut self, request: u32, trailers: Trailers<'_>) {
        if self.plan.flows.makes_calls() {
            self.readings.trailers(request, trailers);
        }
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        let reading = self.readings.get_mut(request);
        let user = reading.user;
        if let Some(limit) = reading.limit.take() {
            self.limits.remove(&(limit, request));
        }
        match ended.outcome {
            Outcome::Response { status: Some(recorded) } => self.judge(request, user, recorded.get(), &ended),
            outcome => {
                let session = &mut self.sessions[user as usize];
                session.unanswered(self.plan.flows.get(session.course.flow), outcome, (ended.start, ended.end));
            }
        }
        self.readings.get_mut(request).clear();
    }

    fn script(&mut self) -> Option<&mut dyn SessionScript> {
        Some(self)
    }

    fn limits(&mut self) -> Option<&mut dyn AnswerLimits> {
        Some(self)
    }

    fn finish(&mut self, now: Timestamp) {
        self.measured.finish(self.sessions.iter_mut().map(|session| &mut session.course), now);
        let mut found = self.measured.found();
        if let Some(session) = self.sessions.first() {
            found.variables = session.variables(self.plan.flows.get(session.course.flow));
        }
        self.all_found.lock().unwrap_or_else(PoisonError::into_inner).merge(found);
    }
}

impl AnswerLimits for FlowScript {
    fn first_deadline(&mut self) -> Timestamp {
        self.limits.first().map_or(Timestamp::NEVER, |(at, _)| *at)
    }

    fn overdue(&mut self, now: Timestamp) -> Option<u32> {
        self.limits.first().filter(|(at, _)| *at <= now).map(|(_, request)| *request)
    }
}

impl SessionScript for FlowScript {
    fn next_request(
        &mut self,
        user: u32,
        number: u64,
        arrival: Arrival,
        request: &mut RequestParts,
    ) -> Option<NextRequest> {
        let at = user as usize;
        if self.sessions.len() <= at {
            self.sessions.resize_with(at + 1, || Session::new(self.plan.began_unix_s));
        }
        let plan = &*self.plan;
        let session = &mut self.sessions[at];
        session.open(&plan.flows, number, arrival, plan.seed);
        let next = NextRequest { target: session.course.global_step(), origin: session.origin };
        session.issue(arrival.intended_start, request);
        self.beginning = user;
        Some(next)
    }

    fn think(&mut self, user: u32) -> Option<Nanos> {
        self.measured.think(&mut self.sessions[user as usize].course)
    }

    fn never_issued(&mut self, user: Option<u32>, number: u64, arrival: Arrival, now: Timestamp) -> u32 {
        let session = user.and_then(|user| self.sessions.get_mut(user as usize));
        let course = session.map(|session| &mut session.course);
        let flows = &self.plan.flows;
        self.measured.never_issued(course, flows.flow_of_session(number, self.plan.seed), arrival, now)
    }
}
