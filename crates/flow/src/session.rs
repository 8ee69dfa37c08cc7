use std::sync::Arc;

use truetail_engine::RequestParts;
use truetail_model::arrival::Arrival;
use truetail_model::random::mix64;
use truetail_model::record::Outcome;
use truetail_model::time::Timestamp;
use truetail_run::EarlyEnd;

use crate::cookies::CookieJar;
use crate::course::Course;
use crate::evaluate::answer::Answer;
use crate::flow::Flow;
use crate::flows::Flows;
use crate::judge::{EarlyEndReason, judge};
use crate::redirect::{self, FollowUp, LastRequest};
use crate::request::{Sender, path_of};
use crate::scope::Scope;
use crate::step::Step;

/// One session, with its variables and cookies. Later sessions reuse its memory.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) course: Course,
    scope: Scope,
    jar: CookieJar,
    /// Origin of the current or ready request, by number.
    pub(crate) origin: u32,
    /// Path and query of the current or ready request.
    target: String,
    body: Vec<u8>,
    /// The next request, if it is ready.
    ready: RequestParts,
    /// The last request of a step that follows redirects.
    last: LastRequest,
}

impl Session {
    pub(crate) fn new(began_unix_s: i64) -> Session {
        Session {
            course: Course::new(),
            scope: Scope::default(),
            jar: CookieJar::new(began_unix_s),
            origin: 0,
            target: String::new(),
            body: Vec::new(),
            ready: RequestParts::default(),
            last: LastRequest::default(),
        }
    }

    /// Begins session `number`, unless a session is open.
    pub(crate) fn open(&mut self, flows: &Flows, number: u64, arrival: Arrival, seed: u64) {
        if self.course.is_open {
            return;
        }
        self.course.open(flows.beginning(number, seed), arrival.intended_start);
        let flow = flows.get(self.course.flow);
        self.scope.values.clone_from(&flow.initial);
        if let Some(rows) = &flow.rows {
            rows.fill(rows.row_of(number), &mut self.scope.values);
        }
        self.scope.random = mix64(seed ^ mix64(number));
        self.scope.number = number;
        if !Arc::ptr_eq(&self.scope.built_ins, &flow.built_ins) {
            self.scope.built_ins = Arc::clone(&flow.built_ins);
        }
        self.jar.clear();
        // `Flow::check_first_request` has checked that the first request can be made.
        let is_made = self.prepare(flow, &flow.steps[flow.moves[0] as usize], arrival.intended_start);
        debug_assert!(is_made, "the first request of a flow can be made");
    }

    /// Passes the ready request to `request` and records that it goes out. It was due at `due`.
    pub(crate) fn issue(&mut self, due: Timestamp, request: &mut RequestParts) {
        std::mem::swap(&mut self.ready, request);
        self.course.issue(due);
    }

    /// Returns its variables that have a text, by name, as `--variable` accepts them.
    pub(crate) fn variables(&self, flow: &Flow) -> Vec<(String, String)> {
        let values = flow.names.iter().zip(&self.scope.values);
        values.filter_map(|(name, value)| Some((name.clone(), value.as_ref()?.as_variable()?))).collect()
    }

    fn prepare(&mut self, flow: &Flow, step: &Step, due: Timestamp) -> bool {
        step.set_variables(&mut self.scope) && self.write(flow, step, due)
    }

    /// Writes the request of a step whose variables are set.
    fn write(&mut self, flow: &Flow, step: &Step, due: Timestamp) -> bool {
        self.origin = step.request.origin;
        let mut sender = Sender {
            scope: &mut self.scope,
            jar: &self.jar,
            site: &flow.origins.get(step.request.origin).site,
            now: due,
            body: &mut self.body,
            target: &mut self.target,
            is_http2: flow.is_http2,
        };
        let written = step.request.write(&mut sender, &mut self.ready);
        if let (Ok(marks), Some(_)) = (written, step.further.most_redirects) {
            self.last.keep(&self.ready, marks);
        }
        written.is_ok()
    }

    /// Judges an answer and makes the next request. Returns the reason if the answer ends the session.
    pub(crate) fn answered(
        &mut self,
        flow: &Flow,
        answer: &Answer<'_>,
        is_whole: bool,
        (start, end): (Timestamp, Timestamp),
    ) -> Option<EarlyEndReason> {
        let step = self.course.last_step(flow);
        self.course.record_answer(start, end);
        let site = &flow.origins.get(self.origin).site;
        for field in answer.fields.all("set-cookie") {
            self.jar.set(field, site, path_of(&self.target), end);
        }
        let judged = match self.follow(flow, step, answer, end) {
            Ok(true) => return None,
            Ok(false) => self.judge(step, answer, is_whole),
            Err(disappointment) => Err(disappointment),
        };
        // If the next request cannot be made, the step itself has not failed, so a retry would not help.
        let gone_on = match judged {
            Ok(()) => self.go_on(flow),
            Err(_) if self.retry(flow) => Ok(()),
            Err(disappointment) => Err(disappointment),
        };
        gone_on.err().inspect(|why| self.course.end_early(why.cause))
    }

    /// Records that its request was sent and ended without an answer.
    pub(crate) fn unanswered(&mut self, flow: &Flow, outcome: Outcome, (start, end): (Timestamp, Timestamp)) {
        self.course.record_unanswered(outcome, start, end);
        self.retry(flow);
    }

    /// Makes the request of its step again, if retries remain.
    fn retry(&mut self, flow: &Flow) -> bool {
        let Some(due) = self.course.retry_due(flow) else { return false };
        let is_made = self.write(flow, self.course.last_step(flow), due);
        if is_made {
            self.course.plan_retry(due);
        }
        is_made
    }

    /// Makes the request that follows a redirect. Returns false if the answer is no redirect, or the step follows none.
    fn follow(
        &mut self,
        flow: &Flow,
        step: &Step,
        answer: &Answer<'_>,
        now: Timestamp,
    ) -> Result<bool, EarlyEndReason> {
        let Some((most, location)) = step.further.most_redirects.zip(redirect::location(answer)) else {
            return Ok(false);
        };
        let failed = |why| EarlyEndReason { cause: EarlyEnd::Redirect, why: format!("line {}: {why}", step.line) };
        if self.course.pass.hops_in_a_row >= most {
            return Err(failed(format!("more than {most} redirects, the limit of max-redirs")));
        }
        let hop = redirect::hop(&flow.origins, self.origin, &self.target, location).map_err(failed)?;
        let next = FollowUp {
            status: answer.status,
            origin: flow.origins.get(hop.origin),
            is_elsewhere: hop.origin != self.origin,
            keeps_authorization: step.further.trusts_redirects,
            target: &hop.target,
        };
        let marks = self.last.follow(&next, &self.jar, now, &mut self.ready);
        (self.origin, self.target) = (hop.origin, hop.target);
        self.last.keep(&self.ready, marks);
        self.course.plan_hop();
        Ok(true)
    }

    /// Judges the last answer of a step.
    fn judge(&mut self, step: &Step, answer: &Answer<'_>, is_whole: bool) -> Result<(), EarlyEndReason> {
        if is_whole || !step.reading.needs_body {
            return judge(step, answer, &mut self.scope);
        }
        let why = format!("line {}: the body is longer than what is kept of one", step.line);
        Err(EarlyEndReason { cause: EarlyEnd::BodyTooLong, why })
    }

    fn go_on(&mut self, flow: &Flow) -> Result<(), EarlyEndReason> {
        match self.course.plan_next_step(flow, |step| step.is_wanted(&self.scope)) {
            Some((step, due)) if !self.prepare(flow, step, due) => {
                let why = format!("line {}: the request cannot be made of what was captured", step.line);
                Err(EarlyEndReason { cause: EarlyEnd::Request, why })
            }
            _ => Ok(()),
        }
    }
}
