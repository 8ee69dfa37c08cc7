use truetail_engine::RequestParts;
use truetail_model::record::Outcome;
use truetail_model::time::Timestamp;
use truetail_run::EarlyEnd;

use super::guide::{Guide, GuidedAnswer, GuidedRequest, NextMove};
use super::plan::GuidedPlan;
use super::request::Maker;
use crate::cookies::CookieJar;
use crate::course::Course;
use crate::request::path_of;

/// Limit on the requests of a session, as in a flow.
const MAX_REQUESTS: u32 = 100_000;

/// One guided session. Later sessions reuse its memory.
#[derive(Debug)]
pub(super) struct GuidedSession {
    pub(super) course: Course,
    jar: CookieJar,
    /// Origin of the current or ready request, by number.
    pub(super) origin: u32,
    /// Path and query of the current or ready request.
    target: String,
    /// The next request, if it is ready.
    ready: RequestParts,
    /// The guide expects the answer to its request.
    is_guided: bool,
}

/// Context of a session: its user, guide and plan.
pub(super) struct SessionContext<'a> {
    pub(super) plan: &'a GuidedPlan,
    pub(super) guide: &'a mut dyn Guide,
    pub(super) user: u32,
}

impl GuidedSession {
    pub(super) fn new(began_unix_s: i64) -> GuidedSession {
        GuidedSession {
            course: Course::new(),
            jar: CookieJar::new(began_unix_s),
            origin: 0,
            target: String::new(),
            ready: RequestParts::default(),
            is_guided: false,
        }
    }

    /// Begins session `number`, which arrived at `intended`.
    ///
    /// # Errors
    /// The session ends before its first request. The error is the reason, or `None` if the run is being ended.
    pub(super) fn begin(
        &mut self,
        mut with: SessionContext<'_>,
        number: u64,
        intended: Timestamp,
    ) -> Result<(), Option<String>> {
        self.course.open(with.plan.beginning(), intended);
        self.jar.clear();
        let next = with.guide.begin(with.user, number);
        self.is_guided = matches!(next, NextMove::Ask(_));
        match next {
            NextMove::Ask(asked) if asked.think.is_zero() => self.ask(&mut with, asked).map_err(Some),
            NextMove::Ask(_) => {
                self.abandon(&mut with);
                Err(Some("think time before the first request would only move the arrival of the session".to_owned()))
            }
            NextMove::Done => Err(Some("the session ended without a request".to_owned())),
            NextMove::Fail { why, .. } => Err(Some(why)),
            NextMove::Stop => Err(None),
        }
    }

    /// Passes the ready request to `request` and records that it goes out. It was due at `due`.
    pub(super) fn issue(&mut self, due: Timestamp, request: &mut RequestParts) {
        std::mem::swap(&mut self.ready, request);
        self.course.issue(due);
    }

    /// Records an answer and asks the guide for the next move. Returns the reason if the answer ends the session.
    pub(super) fn answered(
        &mut self,
        mut with: SessionContext<'_>,
        answer: &GuidedAnswer<'_>,
        (start, end): (Timestamp, Timestamp),
    ) -> Option<String> {
        self.course.record_answer(start, end);
        for field in answer.fields.all("set-cookie") {
            self.jar.set(field, &with.plan.origins.get(self.origin).site, path_of(&self.target), end);
        }
        let next = with.guide.answered(with.user, answer);
        self.is_guided = matches!(next, NextMove::Ask(_));
        match next {
            NextMove::Ask(asked) => {
                let refused = self.ask(&mut with, asked).err();
                return refused.inspect(|_| self.course.end_early(EarlyEnd::Request));
            }
            NextMove::Done => self.course.complete(),
            NextMove::Stop => self.course.cut_off(),
            NextMove::Fail { cause, why } => {
                self.course.end_early(cause);
                return Some(why);
            }
        }
        None
    }

    /// Records that its request was sent and ended without an answer.
    pub(super) fn unanswered(
        &mut self,
        mut with: SessionContext<'_>,
        outcome: Outcome,
        (start, end): (Timestamp, Timestamp),
    ) {
        self.course.record_unanswered(outcome, start, end);
        self.abandon(&mut with);
    }

    /// Ends the session and tells its guide.
    pub(super) fn abandon(&mut self, with: &mut SessionContext<'_>) {
        if std::mem::take(&mut self.is_guided) {
            with.guide.abandon(with.user);
        }
    }

    /// Makes its next request.
    fn ask(&mut self, with: &mut SessionContext<'_>, asked: GuidedRequest) -> Result<(), String> {
        let step = asked.step;
        let think = asked.think;
        let plan = with.plan;
        let due = self.course.end + think;
        let maker = Maker { origins: &plan.origins, asks: &plan.asks, jar: &self.jar, due };
        let made = match self.course.issued() {
            _ if step as usize >= plan.step_count() => Err(format!("there is no step {step}")),
            MAX_REQUESTS.. => Err(format!("a session has more than {MAX_REQUESTS} requests, the limit")),
            _ => maker.make(asked),
        };
        match made {
            Ok(made) => {
                (self.ready, self.origin, self.target) = (made.request, made.origin, made.target);
                self.course.plan_step(step, think);
                Ok(())
            }
            Err(why) => {
                self.abandon(with);
                Err(why)
            }
        }
    }
}
