//! The open sessions of a worker, or of a simulation, and their books.

use truetail_model::arrival::Arrival;
use truetail_model::time::{Nanos, Timestamp};

use super::books::AgentBooks;
use super::graph::{AgentGraphs, Graph};
use super::session::{AgentSession, CallEnd};

/// Sessions by user, and the books of ended sessions.
pub(super) struct OpenSessions {
    pub(super) books: AgentBooks,
    /// By user.
    sessions: Vec<AgentSession>,
    /// Sessions that arrive before this are not counted.
    measure_from: Timestamp,
    /// End of the call that ended last.
    last_end: Timestamp,
}

impl OpenSessions {
    pub(super) fn new(books: AgentBooks, measure_from: Timestamp) -> OpenSessions {
        OpenSessions { books, sessions: Vec::new(), measure_from, last_end: Timestamp::ZERO }
    }

    /// Returns the session of a user, and its graph. If the last one has ended, session `number` begins.
    pub(super) fn open<'a>(
        &mut self,
        agents: &'a AgentGraphs,
        user: u32,
        number: u64,
        arrival: Arrival,
    ) -> (&mut AgentSession, &'a Graph) {
        let at = user as usize;
        if self.sessions.len() <= at {
            self.sessions.resize_with(at + 1, AgentSession::default);
        }
        let session = &mut self.sessions[at];
        if !session.is_open {
            let nth = agents.of_session(number);
            session.open(nth, agents.graph(nth), arrival.intended_start);
        }
        let graph = agents.graph(session.graph);
        (session, graph)
    }

    /// Returns the graph of the session of a user.
    pub(super) fn graph<'a>(&self, agents: &'a AgentGraphs, user: u32) -> &'a Graph {
        agents.graph(self.sessions[user as usize].graph)
    }

    /// Records the end of a call at `end`. `knows_texts`: texts that are said again are known.
    pub(super) fn ended(
        &mut self,
        agents: &AgentGraphs,
        (user, call): (u32, u32),
        how: CallEnd,
        end: Timestamp,
        knows_texts: bool,
    ) {
        self.last_end = end;
        let session = &mut self.sessions[user as usize];
        session.ended(agents.graph(session.graph), call, how, end, knows_texts);
    }

    /// Returns the time from the end of the call that ended last to a call that has become due. Closes the session if
    /// it is over.
    pub(super) fn think(&mut self, agents: &AgentGraphs, user: u32) -> Option<Nanos> {
        let session = &mut self.sessions[user as usize];
        let next = session.think(self.last_end);
        if session.is_open && session.progress.is_over() {
            let end = session.end;
            self.close(agents, user, end);
        }
        next
    }

    /// Adds the intended starts of the other calls that have become due.
    pub(super) fn branches(&mut self, user: u32, due: &mut Vec<Timestamp>) {
        self.sessions[user as usize].branches(due);
    }

    /// Records that the run ended at `now` before this arrival. Returns its step.
    pub(super) fn never_issued(
        &mut self,
        agents: &AgentGraphs,
        user: Option<u32>,
        number: u64,
        arrival: Arrival,
        now: Timestamp,
    ) -> u32 {
        let session = user.and_then(|user| self.sessions.get_mut(user as usize)).filter(|session| session.is_open);
        if let Some(session) = session {
            session.is_cut_off = true;
            let graph = agents.graph(session.graph);
            return session.progress.leave().map_or(0, |call| graph.calls[call as usize].step());
        }
        if arrival.intended_start >= self.measure_from {
            self.books.never_begun(agents.graph(agents.of_session(number)), arrival.intended_start, now);
        }
        0
    }

    /// Ends all open sessions with the run.
    pub(super) fn finish(&mut self, agents: &AgentGraphs, now: Timestamp) {
        for user in 0..self.sessions.len() as u32 {
            let session = &self.sessions[user as usize];
            if session.is_open {
                // The time of a tool after the last answer is the agent's own.
                let end = if session.is_cut_off { now.max(session.end) } else { session.end };
                self.close(agents, user, end);
            }
        }
    }

    fn close(&mut self, agents: &AgentGraphs, user: u32, end: Timestamp) {
        let session = &mut self.sessions[user as usize];
        if session.intended >= self.measure_from {
            self.books.ended(session, agents.graph(session.graph), end);
        }
        session.close();
    }
}
