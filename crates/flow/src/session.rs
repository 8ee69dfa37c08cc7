//! One session under way.

use truetail_model::arrival::Arrival;
use truetail_model::random::mix64;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::EarlyEnd;

use crate::books::SessionEnd;
use crate::cookies::{CookieJar, Site};
use crate::evaluate::answer::Answer;
use crate::flow::Flow;
use crate::judge::{Disappointment, judge};
use crate::request::Sender;
use crate::scope::Scope;
use crate::step::Step;
use crate::syntax::Delay;

/// What a session does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Its request is under way.
    Waits,
    /// It thinks for so long, and makes another request.
    Thinks(Nanos),
    /// It has ended.
    Ends(SessionEnd),
}

/// A session. Its room is used again by the next one.
#[derive(Debug)]
pub(crate) struct Session {
    /// It was begun and has not ended.
    pub(crate) is_open: bool,
    pub(crate) intended: Timestamp,
    /// When its last request ended.
    pub(crate) end: Timestamp,
    /// Planned think time of the requests that were issued.
    pub(crate) thought: Nanos,
    /// Requests that were issued.
    pub(crate) issued: u32,
    pub(crate) next: Next,
    scope: Scope,
    jar: CookieJar,
    /// The path of the request under way, or of the one that is ready.
    path: String,
    body: Vec<u8>,
    /// The next request, where it is ready.
    ready: Vec<u8>,
}

impl Session {
    pub(crate) fn new() -> Session {
        Session {
            is_open: false,
            intended: Timestamp::ZERO,
            end: Timestamp::ZERO,
            thought: Nanos::ZERO,
            issued: 0,
            next: Next::Waits,
            scope: Scope::default(),
            jar: CookieJar::default(),
            path: String::new(),
            body: Vec::new(),
            ready: Vec::new(),
        }
    }

    /// Another session begins.
    pub(crate) fn open(&mut self, flow: &Flow, number: u64, arrival: Arrival, seed: u64) {
        self.scope.values.clone_from(&flow.initial);
        if let Some(rows) = &flow.rows {
            rows.fill(rows.row_of(number), &mut self.scope.values);
        }
        self.scope.random = mix64(seed ^ mix64(number));
        self.jar.clear();
        (self.is_open, self.issued, self.thought, self.next) = (true, 0, Nanos::ZERO, Next::Waits);
        (self.intended, self.end) = (arrival.intended_start, arrival.intended_start);
        // Whether the first request can be made was found out when the flow was read.
        let is_made = self.prepare(&flow.steps[flow.moves[0] as usize], arrival.intended_start);
        debug_assert!(is_made, "the first request of a flow can be made");
    }

    /// The step that it is in, or comes to next.
    pub(crate) fn step(&self, flow: &Flow) -> u32 {
        flow.moves[(self.issued as usize).min(flow.moves.len() - 1)]
    }

    /// Its next request goes out.
    pub(crate) fn issue(&mut self, request: &mut Vec<u8>) {
        std::mem::swap(&mut self.ready, request);
        if let Next::Thinks(think) = self.next {
            self.thought += think;
        }
        self.issued += 1;
        self.next = Next::Waits;
    }

    /// The time from its intended arrival to `end`, less the planned think time.
    pub(crate) fn time(&self, end: Timestamp) -> Nanos {
        end.since(self.intended).saturating_sub(self.thought)
    }

    fn prepare(&mut self, step: &Step, due: Timestamp) -> bool {
        if !step.set_variables(&mut self.scope) {
            return false;
        }
        let mut sender =
            Sender { scope: &mut self.scope, jar: &self.jar, now: due, body: &mut self.body, path: &mut self.path };
        step.request.write(&mut sender, &mut self.ready).is_ok()
    }

    /// Its request was answered at `end`. Says why it does not go on, where it does not.
    pub(crate) fn answered(
        &mut self,
        flow: &Flow,
        site: &Site,
        answer: &Answer<'_>,
        is_whole: bool,
        end: Timestamp,
    ) -> Option<Disappointment> {
        let step = &flow.steps[flow.moves[self.issued as usize - 1] as usize];
        self.end = end;
        for field in answer.fields.all("set-cookie") {
            self.jar.set(field, site, &self.path, end);
        }
        let judged = if is_whole || !step.needs_body {
            judge(step, answer, &mut self.scope)
        } else {
            let why = format!("line {}: the body is longer than what is kept of one", step.line);
            Err(Disappointment { cause: EarlyEnd::BodyTooLong, why })
        };
        let gone_on = judged.and_then(|()| self.go_on(flow, end));
        gone_on.err().inspect(|why| self.next = Next::Ends(SessionEnd::Early(why.cause)))
    }

    fn go_on(&mut self, flow: &Flow, end: Timestamp) -> Result<(), Disappointment> {
        let Some(step) = flow.moves.get(self.issued as usize).map(|step| &flow.steps[*step as usize]) else {
            self.next = Next::Ends(SessionEnd::Completed);
            return Ok(());
        };
        let think = match step.delay {
            None => Nanos::ZERO,
            Some(Delay::Fixed(time)) => time,
            Some(Delay::Exponential(mean)) => exponential(mean, self.scope.draw()),
        };
        if !self.prepare(step, end + think) {
            let why = format!("line {}: the request cannot be made of what was captured", step.line);
            return Err(Disappointment { cause: EarlyEnd::Request, why });
        }
        self.next = Next::Thinks(think);
        Ok(())
    }

    /// Its request ended at `end` without an answer.
    pub(crate) fn unanswered(&mut self, outcome: Outcome, end: Timestamp) {
        self.end = end;
        self.next = Next::Ends(match outcome {
            Outcome::InFlightAtEnd | Outcome::NeverIssued => SessionEnd::InFlight,
            Outcome::TimedOut => SessionEnd::Early(EarlyEnd::TimedOut),
            Outcome::ConnectFailed(_) => SessionEnd::Early(EarlyEnd::ConnectFailed),
            Outcome::Reset(_) => SessionEnd::Early(EarlyEnd::Reset),
            Outcome::Malformed(_) | Outcome::Response { .. } => SessionEnd::Early(EarlyEnd::Malformed),
        });
    }
}

/// An exponentially distributed time, from 64 random bits.
fn exponential(mean: Nanos, bits: u64) -> Nanos {
    let uniform = ((bits >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
    Nanos((-uniform.ln() * mean.0 as f64) as u64)
}
