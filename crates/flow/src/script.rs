//! The sessions of one worker of the engine.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{AnswerHead, EndedRequest, FieldList, Observer, SessionScript};
use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::SessionFacts;

use crate::books::{Itinerary, SessionBooks, SessionEnd};
use crate::cookies::Site;
use crate::evaluate::answer::Answer;
use crate::flow::Flow;
use crate::session::{Next, Session};

/// Most bytes that are kept of a body for captures and asserts: 1 MiB.
pub const MOST_BODY_BYTES: usize = 1 << 20;
/// Room for a body that is kept from one answer to the next.
const BODY_ROOM_KEPT: usize = 4 * 1024;

/// What all workers of a run know.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) flow: Flow,
    pub(crate) itinerary: Itinerary,
    pub(crate) site: Site,
    /// Sessions that arrive before this are not counted.
    pub(crate) measure_from: Timestamp,
    pub(crate) seed: u64,
}

/// What the workers found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) facts: SessionFacts,
    /// For each step, the first answer that disappointed: when its session arrived, and why.
    pub(crate) examples: Vec<Option<(Timestamp, String)>>,
}

/// The answer that is being read for a request. Its room is used again.
#[derive(Debug)]
struct Reading {
    user: u32,
    status: Option<u16>,
    version: &'static str,
    fields: FieldList,
    body: Vec<u8>,
    body_bytes: u64,
    keeps_body: bool,
    limit: Option<Timestamp>,
}

/// The sessions of one worker.
#[derive(Debug)]
pub(crate) struct FlowScript {
    plan: Arc<Plan>,
    all_found: Arc<Mutex<Found>>,
    books: SessionBooks,
    examples: Vec<Option<(Timestamp, String)>>,
    /// By user.
    sessions: Vec<Session>,
    /// By request.
    readings: Vec<Reading>,
    /// Whose request begins next.
    beginning: u32,
    /// When requests that are under way are given up, by time and request.
    limits: BTreeSet<(Timestamp, u32)>,
}

impl FlowScript {
    /// A script that adds what it found to `all_found` at its end.
    pub(crate) fn new(plan: Arc<Plan>, all_found: Arc<Mutex<Found>>) -> FlowScript {
        FlowScript {
            books: SessionBooks::new(&plan.itinerary),
            examples: vec![None; plan.itinerary.steps.len()],
            plan,
            all_found,
            sessions: Vec::new(),
            readings: Vec::new(),
            beginning: 0,
            limits: BTreeSet::new(),
        }
    }

    fn record(&mut self, intended: Timestamp, issued: u32, end: SessionEnd, time: Nanos) {
        if intended >= self.plan.measure_from {
            self.books.record(issued, end, time);
        }
    }

    /// Writes down a session that has ended.
    fn close(&mut self, user: u32, how: SessionEnd, end: Timestamp) {
        let session = &mut self.sessions[user as usize];
        session.is_open = false;
        let (intended, issued, time) = (session.intended, session.issued, session.time(end));
        self.record(intended, issued, how, time);
    }

    /// Judges an answer.
    fn judge(&mut self, request: u32, user: u32, status: u16, ended: &EndedRequest) {
        let reading = &self.readings[request as usize];
        let duration = ended.end.since(ended.arrival.intended_start);
        let answer = Answer::new(status, reading.version, &reading.fields, &reading.body, duration);
        let is_whole = reading.body_bytes == reading.body.len() as u64;
        let (plan, session) = (&*self.plan, &mut self.sessions[user as usize]);
        let disappointment = session.answered(&plan.flow, &plan.site, &answer, is_whole, ended.end);
        let intended = session.intended;
        let step = ended.id.target as usize;
        if let Some(disappointment) = disappointment
            && intended >= plan.measure_from
            && self.examples[step].is_none()
        {
            self.examples[step] = Some((intended, disappointment.why));
        }
    }
}

impl Observer for FlowScript {
    fn begin(&mut self, request: u32, arrival: Arrival) {
        let user = self.beginning;
        let session = &self.sessions[user as usize];
        let step = &self.plan.flow.steps[self.plan.flow.moves[session.issued as usize - 1] as usize];
        let limit = step.max_time.map(|time| arrival.intended_start + time);
        let keeps_body = step.needs_body;
        let at = request as usize;
        if self.readings.len() <= at {
            self.readings.resize_with(at + 1, Reading::new);
        }
        self.readings[at].restart(user, keeps_body, limit);
        self.limits.extend(limit.map(|limit| (limit, request)));
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        let reading = &mut self.readings[request as usize];
        reading.status = Some(head.status);
        reading.version = head.version().unwrap_or("1.1");
        head.copy_fields(&mut reading.fields);
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        let reading = &mut self.readings[request as usize];
        reading.body_bytes += part.len() as u64;
        if reading.keeps_body {
            let kept = part.len().min(MOST_BODY_BYTES - reading.body.len());
            reading.body.extend_from_slice(&part[..kept]);
        }
    }

    fn first_deadline(&self) -> Timestamp {
        self.limits.first().map_or(Timestamp::NEVER, |(at, _)| *at)
    }

    fn overdue(&mut self, now: Timestamp) -> Option<u32> {
        self.limits.first().filter(|(at, _)| *at <= now).map(|(_, request)| *request)
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        let reading = &mut self.readings[request as usize];
        let (user, status) = (reading.user, reading.status);
        if let Some(limit) = reading.limit.take() {
            self.limits.remove(&(limit, request));
        }
        match (ended.outcome, status) {
            (Outcome::Response { .. }, Some(status)) => self.judge(request, user, status, &ended),
            (outcome, _) => self.sessions[user as usize].unanswered(outcome, ended.end),
        }
        self.readings[request as usize].clear();
    }

    fn script(&mut self) -> Option<&mut dyn SessionScript> {
        Some(self)
    }

    fn finish(&mut self) {
        // Who still thinks is in flight: what was waited for so far is known.
        for user in 0..self.sessions.len() as u32 {
            let session = &self.sessions[user as usize];
            if session.is_open {
                let end = session.end;
                self.close(user, SessionEnd::InFlight, end);
            }
        }
        let facts = self.books.facts(self.plan.flow.name(), &self.plan.itinerary);
        let mut all = self.all_found.lock().unwrap_or_else(PoisonError::into_inner);
        all.facts.merge(&facts);
        for (known, mine) in all.examples.iter_mut().zip(self.examples.drain(..)) {
            *known = [known.take(), mine].into_iter().flatten().min_by_key(|(at, _)| *at);
        }
    }
}

impl SessionScript for FlowScript {
    fn next_request(&mut self, user: u32, number: u64, arrival: Arrival, request: &mut Vec<u8>) -> u32 {
        let at = user as usize;
        if self.sessions.len() <= at {
            self.sessions.resize_with(at + 1, Session::new);
        }
        let (plan, session) = (&*self.plan, &mut self.sessions[at]);
        if !session.is_open {
            session.open(&plan.flow, number, arrival, plan.seed);
        }
        let step = session.step(&plan.flow);
        session.issue(request);
        self.beginning = user;
        step
    }

    fn think(&mut self, user: u32) -> Option<Nanos> {
        let session = &self.sessions[user as usize];
        match session.next {
            Next::Thinks(think) => Some(think),
            Next::Ends(how) => {
                let end = session.end;
                self.close(user, how, end);
                None
            }
            Next::Waits => None,
        }
    }

    fn never_issued(&mut self, user: Option<u32>, arrival: Arrival, now: Timestamp) -> u32 {
        let open =
            user.and_then(|user| Some((user, self.sessions.get(user as usize).filter(|session| session.is_open)?)));
        let Some((user, session)) = open else {
            self.record(arrival.intended_start, 0, SessionEnd::NeverBegun, now.since(arrival.intended_start));
            return self.plan.flow.moves[0];
        };
        let step = session.step(&self.plan.flow);
        // The planned think time before this request was over.
        let think = if let Next::Thinks(think) = session.next { think } else { Nanos::ZERO };
        self.sessions[user as usize].thought += think;
        self.close(user, SessionEnd::InFlight, now);
        step
    }
}

impl Reading {
    fn new() -> Reading {
        Reading {
            user: 0,
            status: None,
            version: "1.1",
            fields: FieldList::default(),
            body: Vec::new(),
            body_bytes: 0,
            keeps_body: false,
            limit: None,
        }
    }

    fn restart(&mut self, user: u32, keeps_body: bool, limit: Option<Timestamp>) {
        self.clear();
        (self.user, self.keeps_body, self.limit) = (user, keeps_body, limit);
    }

    fn clear(&mut self) {
        (self.status, self.body_bytes) = (None, 0);
        self.fields.clear();
        self.body.clear();
        self.body.shrink_to(BODY_ROOM_KEPT);
    }
}
