//! The sessions of one worker of the engine.

use std::sync::{Arc, PoisonError};

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, NextRequest, RequestParts, SessionScript};
use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::EarlyEnd;
use truetail_stream::{AnswerVerdict, LastVerdict, SaidReader};

use super::books::AgentBooks;
use super::run::Shared;
use super::session::{AgentSession, CallEnd};

/// Lowest status of an answer that is an error.
const FIRST_ERROR: u16 = 400;

/// A request in flight.
#[derive(Default, Debug)]
struct PendingCall {
    user: u32,
    call: u32,
    status: Option<u16>,
    /// Reads the text, if a later call says it again.
    said: Option<SaidReader>,
}

/// The sessions of one worker. The observer of streams is told of each event before it.
pub(super) struct AgentScript {
    shared: Arc<Shared>,
    verdict: LastVerdict,
    books: AgentBooks,
    /// By user.
    sessions: Vec<AgentSession>,
    /// By request.
    pending: Vec<PendingCall>,
    /// User and call of the request that begins next.
    beginning: (u32, u32),
    /// End of the call that ended last.
    last_end: Timestamp,
    body: Vec<u8>,
}

impl AgentScript {
    pub(super) fn new(shared: Arc<Shared>, verdict: LastVerdict) -> AgentScript {
        AgentScript {
            books: shared.empty_books(),
            shared,
            verdict,
            sessions: Vec::new(),
            pending: Vec::new(),
            beginning: (0, 0),
            last_end: Timestamp::ZERO,
            body: Vec::new(),
        }
    }

    /// Returns how a call ended.
    fn end_of(&mut self, request: u32, outcome: Outcome) -> CallEnd {
        let pending = &mut self.pending[request as usize];
        let said = pending.said.take();
        let failed = |cause: EarlyEnd| CallEnd::Failed(cause, cause.describe().to_owned());
        match outcome {
            Outcome::InFlightAtEnd | Outcome::NeverIssued => CallEnd::CutOff,
            Outcome::TimedOut => failed(EarlyEnd::TimedOut),
            Outcome::ConnectFailed(_) => failed(EarlyEnd::ConnectFailed),
            Outcome::Reset(_) => failed(EarlyEnd::Reset),
            Outcome::Malformed(_) => failed(EarlyEnd::Malformed),
            Outcome::Response { status } => {
                let status = pending.status.or_else(|| status.map(|status| status.get())).unwrap_or(0);
                match self.verdict.get() {
                    _ if status >= FIRST_ERROR => CallEnd::Failed(EarlyEnd::Status, format!("status {status}")),
                    AnswerVerdict::Incomplete => failed(EarlyEnd::Incomplete),
                    verdict => CallEnd::Answered(said.map(SaidReader::finish), verdict),
                }
            }
        }
    }

    /// Closes a session that is over at `end`.
    fn close(&mut self, user: u32, end: Timestamp) {
        let session = &mut self.sessions[user as usize];
        if session.intended >= self.shared.measure_from {
            self.books.ended(session, self.shared.graph(session.graph), end);
        }
        session.close();
    }
}

impl AnswerReader for AgentScript {
    fn begin(&mut self, request: u32, _: u32, _: Arrival) {
        let at = request as usize;
        if self.pending.len() <= at {
            self.pending.resize_with(at + 1, PendingCall::default);
        }
        let (user, call) = self.beginning;
        let graph = self.shared.graph(self.sessions[user as usize].graph);
        let said = graph.calls[call as usize].is_said.then(|| SaidReader::new(self.shared.has_lines));
        self.pending[at] = PendingCall { user, call, status: None, said };
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
        let PendingCall { user, call, .. } = self.pending[request as usize];
        let session = &mut self.sessions[user as usize];
        let graph = self.shared.graph(session.graph);
        self.last_end = ended.end;
        session.ended(graph, call, how, ended.end, &mut self.body);
    }

    fn script(&mut self) -> Option<&mut dyn SessionScript> {
        Some(self)
    }

    fn finish(&mut self, now: Timestamp) {
        for user in 0..self.sessions.len() as u32 {
            let session = &self.sessions[user as usize];
            if session.is_open {
                // The time of a tool after the last answer is the agent's own.
                let end = if session.is_cut_off { now.max(session.end) } else { session.end };
                self.close(user, end);
            }
        }
        let books = std::mem::replace(&mut self.books, self.shared.empty_books());
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
        if self.sessions.len() <= user as usize {
            self.sessions.resize_with(user as usize + 1, AgentSession::default);
        }
        let session = &mut self.sessions[user as usize];
        if !session.is_open {
            let nth = self.shared.agents.of_session(number);
            session.open(nth, self.shared.graph(nth), arrival.intended_start);
        }
        let graph = self.shared.graph(session.graph);
        let call = session.ask(graph, &self.shared.base, &mut self.body, request)?;
        self.beginning = (user, call);
        Some(NextRequest { target: graph.calls[call as usize].step(), origin: 0 })
    }

    fn think(&mut self, user: u32) -> Option<Nanos> {
        let session = &mut self.sessions[user as usize];
        let next = session.think(self.last_end);
        if session.is_open && session.progress.is_over() {
            let end = session.end;
            self.close(user, end);
        }
        next
    }

    fn branches(&mut self, user: u32, due: &mut Vec<Timestamp>) {
        self.sessions[user as usize].branches(due);
    }

    fn never_issued(&mut self, user: Option<u32>, number: u64, arrival: Arrival, now: Timestamp) -> u32 {
        let session = user.and_then(|user| self.sessions.get_mut(user as usize)).filter(|session| session.is_open);
        if let Some(session) = session {
            session.is_cut_off = true;
            let graph = self.shared.graph(session.graph);
            return session.progress.leave().map_or(0, |call| graph.calls[call as usize].step());
        }
        if arrival.intended_start >= self.shared.measure_from {
            let graph = self.shared.graph(self.shared.agents.of_session(number));
            self.books.never_begun(graph, arrival.intended_start, now);
        }
        0
    }
}
