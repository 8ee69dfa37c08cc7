//! One session under way.

use truetail_model::arrival::Arrival;
use truetail_model::random::mix64;
use truetail_model::time::Timestamp;
use truetail_run::EarlyEnd;

use crate::cookies::{CookieJar, Site};
use crate::course::Course;
use crate::evaluate::answer::Answer;
use crate::flow::Flow;
use crate::judge::{Disappointment, judge};
use crate::request::Sender;
use crate::scope::Scope;
use crate::step::Step;

/// A session. Its room is used again by the next one.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) course: Course,
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
            course: Course::new(),
            scope: Scope::default(),
            jar: CookieJar::default(),
            path: String::new(),
            body: Vec::new(),
            ready: Vec::new(),
        }
    }

    /// Session `number` begins, unless one is under way.
    pub(crate) fn open(&mut self, flow: &Flow, number: u64, arrival: Arrival, seed: u64) {
        if !self.course.open(number, arrival, seed) {
            return;
        }
        self.scope.values.clone_from(&flow.initial);
        if let Some(rows) = &flow.rows {
            rows.fill(rows.row_of(number), &mut self.scope.values);
        }
        self.scope.random = mix64(seed ^ mix64(number));
        self.jar.clear();
        // Whether the first request can be made was found out when the flow was read.
        let is_made = self.prepare(flow, &flow.steps[flow.moves[0] as usize], arrival.intended_start);
        debug_assert!(is_made, "the first request of a flow can be made");
    }

    /// Its next request goes out, which was due at `due`.
    pub(crate) fn issue(&mut self, flow: &Flow, due: Timestamp, request: &mut Vec<u8>) {
        std::mem::swap(&mut self.ready, request);
        self.course.issue(flow, due);
    }

    fn prepare(&mut self, flow: &Flow, step: &Step, due: Timestamp) -> bool {
        if !step.set_variables(&mut self.scope) {
            return false;
        }
        let mut sender = Sender {
            scope: &mut self.scope,
            jar: &self.jar,
            now: due,
            body: &mut self.body,
            path: &mut self.path,
            is_http2: flow.is_http2,
        };
        step.request.write(&mut sender, &mut self.ready).is_ok()
    }

    /// Its request was sent and answered at these instants. Says why it does not go on, where it does not.
    pub(crate) fn answered(
        &mut self,
        flow: &Flow,
        site: &Site,
        answer: &Answer<'_>,
        is_whole: bool,
        (start, end): (Timestamp, Timestamp),
    ) -> Option<Disappointment> {
        let step = self.course.last_step(flow);
        self.course.answered(start, end);
        for field in answer.fields.all("set-cookie") {
            self.jar.set(field, site, &self.path, end);
        }
        let judged = if is_whole || !step.needs_body {
            judge(step, answer, &mut self.scope)
        } else {
            let why = format!("line {}: the body is longer than what is kept of one", step.line);
            Err(Disappointment { cause: EarlyEnd::BodyTooLong, why })
        };
        let gone_on = judged.and_then(|()| self.go_on(flow));
        gone_on.err().inspect(|why| self.course.end_early(why.cause))
    }

    fn go_on(&mut self, flow: &Flow) -> Result<(), Disappointment> {
        match self.course.go_on(flow) {
            Some((step, due)) if !self.prepare(flow, step, due) => {
                let why = format!("line {}: the request cannot be made of what was captured", step.line);
                Err(Disappointment { cause: EarlyEnd::Request, why })
            }
            _ => Ok(()),
        }
    }
}
