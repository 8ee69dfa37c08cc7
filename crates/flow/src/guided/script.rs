use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, NextRequest, RequestParts, SessionScript, Trailers};
use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};

use super::guide::{Guide, GuidedAnswer};
use super::plan::GuidedPlan;
use super::session::{GuidedSession, SessionContext};
use crate::measured::{MeasuredFlows, SessionResults};
use crate::reading::Readings;

/// State that all workers of a run share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) plan: GuidedPlan,
    /// Start of the run in seconds since 1970.
    pub(super) began_unix_s: i64,
    /// Sessions that arrive before this are not counted.
    pub(super) measure_from: Timestamp,
    pub(super) found: Mutex<SessionResults>,
}

/// The guided sessions of one worker.
pub(super) struct GuidedScript {
    shared: Arc<Shared>,
    guide: Box<dyn Guide>,
    measured: MeasuredFlows,
    /// By user.
    sessions: Vec<GuidedSession>,
    readings: Readings,
    /// The user whose request begins next.
    beginning: u32,
}

impl GuidedScript {
    /// Creates a script that adds its results to `shared` when it finishes.
    pub(super) fn new(shared: Arc<Shared>, guide: Box<dyn Guide>) -> GuidedScript {
        GuidedScript {
            measured: MeasuredFlows::new(vec![shared.plan.itinerary()], shared.measure_from),
            shared,
            guide,
            sessions: Vec::new(),
            readings: Readings::default(),
            beginning: 0,
        }
    }

    /// Returns the session of a user and the context that it needs.
    fn session(&mut self, user: u32) -> (&mut GuidedSession, SessionContext<'_>) {
        let plan = &self.shared.plan;
        (&mut self.sessions[user as usize], SessionContext { plan, guide: &mut *self.guide, user })
    }

    fn answered(&mut self, request: u32, user: u32, status: u16, ended: &EndedRequest) {
        let reading = self.readings.get_mut(request);
        let answer = GuidedAnswer {
            status,
            version: reading.version,
            fields: &reading.fields,
            body: &reading.body,
            is_whole: reading.is_whole(),
            response_time: ended.end.since(ended.arrival.intended_start),
        };
        let plan = &self.shared.plan;
        let session = &mut self.sessions[user as usize];
        let with = SessionContext { plan, guide: &mut *self.guide, user };
        if let Some(why) = session.answered(with, &answer, (ended.start, ended.end)) {
            self.measured.record_early_end(&session.course, why);
        }
    }
}

impl AnswerReader for GuidedScript {
    fn begin(&mut self, request: u32, _: u32, _: Arrival) {
        self.readings.begin(request, self.beginning, true, None);
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        self.readings.head(request, head);
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        self.readings.body(request, part);
    }

    fn trailers(&mut self, request: u32, trailers: Trailers<'_>) {
        if self.shared.plan.makes_calls() {
            self.readings.trailers(request, trailers);
        }
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        let reading = self.readings.get_mut(request);
        let user = reading.user;
        match ended.outcome {
            // Messages have no status.
            Outcome::Response { status } => self.answered(request, user, status.map_or(0, NonZeroU16::get), &ended),
            outcome => {
                let (session, with) = self.session(user);
                session.unanswered(with, outcome, (ended.start, ended.end));
            }
        }
        self.readings.get_mut(request).clear();
    }

    fn script(&mut self) -> Option<&mut dyn SessionScript> {
        Some(self)
    }

    fn finish(&mut self, now: Timestamp) {
        self.measured.finish(self.sessions.iter_mut().map(|session| &mut session.course), now);
        for user in 0..self.sessions.len() as u32 {
            let (session, mut with) = self.session(user);
            session.abandon(&mut with);
        }
        self.shared.found.lock().unwrap_or_else(PoisonError::into_inner).merge(self.measured.found());
    }
}

impl SessionScript for GuidedScript {
    fn next_request(
        &mut self,
        user: u32,
        number: u64,
        arrival: Arrival,
        request: &mut RequestParts,
    ) -> Option<NextRequest> {
        if self.sessions.len() <= user as usize {
            self.sessions.resize_with(user as usize + 1, || GuidedSession::new(self.shared.began_unix_s));
        }
        let (session, with) = self.session(user);
        if !session.course.is_open
            && let Err(why) = session.begin(with, number, arrival.intended_start)
        {
            let session = &mut self.sessions[user as usize];
            why.into_iter().for_each(|why| self.measured.record_early_end(&session.course, why));
            session.course.is_open = false;
            return None;
        }
        let session = &mut self.sessions[user as usize];
        let next = NextRequest { target: session.course.global_step(), origin: session.origin };
        session.issue(arrival.intended_start, request);
        self.beginning = user;
        Some(next)
    }

    fn think(&mut self, user: u32) -> Option<Nanos> {
        self.measured.think(&mut self.sessions[user as usize].course)
    }

    fn never_issued(&mut self, user: Option<u32>, _: u64, arrival: Arrival, now: Timestamp) -> u32 {
        let session = user.and_then(|user| self.sessions.get_mut(user as usize));
        self.measured.never_issued(session.map(|session| &mut session.course), 0, arrival, now)
    }
}
