//! The sessions of one worker of the engine.

use std::sync::{Arc, PoisonError};

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, NextRequest, RequestParts, SessionScript};
use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::EarlyEnd;
use truetail_stream::{AnswerVerdict, LastVerdict, SaidReader};

use super::open::OpenSessions;
use super::session::CallEnd;
use super::shared::Shared;

/// Lowest status of an answer that is an error.
const FIRST_ERROR: u16 = 400;

/// Returns the failure of a call with this outcome and status; `None` if it was answered.
pub(super) fn failure(outcome: Outcome, status: u16) -> Option<CallEnd> {
    let failed = |cause: EarlyEnd| Some(CallEnd::Failed(cause, cause.describe().to_owned()));
    match outcome {
        Outcome::InFlightAtEnd | Outcome::NeverIssued => Some(CallEnd::CutOff),
        Outcome::TimedOut => failed(EarlyEnd::TimedOut),
        Outcome::ConnectFailed(_) => failed(EarlyEnd::ConnectFailed),
        Outcome::Reset(_) => failed(EarlyEnd::Reset),
        Outcome::Malformed(_) => failed(EarlyEnd::Malformed),
        Outcome::Response { .. } if status >= FIRST_ERROR => {
            Some(CallEnd::Failed(EarlyEnd::Status, format!("status {status}")))
        }
        Outcome::Response { .. } => None,
    }
}

/// A request in flight.
#[derive(Default, Debug)]
struct PendingCall {
    /// User and call.
    place: (u32, u32),
    status: Option<u16>,
    /// Reads the text, if a later call says it again.
    said: Option<SaidReader>,
}

/// The sessions of one worker. The observer of streams is told of each event before it.
pub(super) struct AgentScript {
    shared: Arc<Shared>,
    verdict: LastVerdict,
    open: OpenSessions,
    /// By request.
    pending: Vec<PendingCall>,
    /// User and call of the request that begins next.
    beginning: (u32, u32),
    body: Vec<u8>,
}

impl AgentScript {
    pub(super) fn new(shared: Arc<Shared>, verdict: LastVerdict) -> AgentScript {
        AgentScript {
            open: OpenSessions::new(shared.empty_books(), shared.measure_from),
            shared,
            verdict,
            pending: Vec::new(),
            beginning: (0, 0),
            body: Vec::new(),
        }
    }

    /// Returns how a call ended.
    fn end_of(&mut self, request: u32, outcome: Outcome) -> CallEnd {
        let pending = &mut self.pending[request as usize];
        let said = pending.said.take();
        if let Some(failure) = failure(outcome, pending.status.unwrap_or(0)) {
            return failure;
        }
        match self.verdict.get() {
            AnswerVerdict::Incomplete => {
                CallEnd::Failed(EarlyEnd::Incomplete, EarlyEnd::Incomplete.describe().to_owned())
            }
            verdict => CallEnd::Answered(said.map(SaidReader::finish), verdict),
        }
    }
}

impl AnswerReader for AgentScript {
    fn begin(&mut self, request: u32, _: u32, _: Arrival) {
        let at = request as usize;
        if self.pending.len() <= at {
            self.pending.resize_with(at + 1, PendingCall::default);
        }
        let place = self.beginning;
        let graph = self.open.graph(&self.shared.agents, place.0);
        let said = graph.calls[place.1 as usize].is_said.then(|| SaidReader::new(self.shared.has_lines));
        self.pending[at] = PendingCall { place, status: None, said };
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        self.pending[request as usize].status = head.status;
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        if let Some(said) = &mut self.pending[request as usize].said {
            said.feed(part);
        }
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        let how = self.end_of(request, ended.outcome);
        let place = self.pending[request as usize].place;
        self.open.ended(&self.shared.agents, place, how, ended.end, true);
    }

    fn script(&mut self) -> Option<&mut dyn SessionScript> {
        Some(self)
    }

    fn finish(&mut self, now: Timestamp) {
        self.open.finish(&self.shared.agents, now);
        let books = std::mem::replace(&mut self.open.books, self.shared.empty_books());
        self.shared.found.lock().unwrap_or_else(PoisonError::into_inner).merge(books);
    }
}

impl SessionScript for AgentScript {
    fn next_request(
        &mut self,
        user: u32,
        number: u64,
        arrival: Arrival,
        request: &mut RequestParts,
    ) -> Option<NextRequest> {
        let (session, graph) = self.open.open(&self.shared.agents, user, number, arrival);
        let call = session.ask(graph, &self.shared.base, &mut self.body, request)?;
        self.beginning = (user, call);
        Some(NextRequest { target: graph.calls[call as usize].step(), origin: 0 })
    }

    fn think(&mut self, user: u32) -> Option<Nanos> {
        self.open.think(&self.shared.agents, user)
    }

    fn branches(&mut self, user: u32, due: &mut Vec<Timestamp>) {
        self.open.branches(user, due);
    }

    fn never_issued(&mut self, user: Option<u32>, number: u64, arrival: Arrival, now: Timestamp) -> u32 {
        self.open.never_issued(&self.shared.agents, user, number, arrival, now)
    }
}
