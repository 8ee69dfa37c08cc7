//! One session of an agent.

use truetail_engine::RequestParts;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::EarlyEnd;
use truetail_stream::AnswerVerdict;

use super::graph::{Graph, write_request};
use super::progress::Progress;
use super::template::{check, escaped, fill};

/// Limit on the texts that a session keeps to say them again: 64 MiB.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// The first failure of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failure {
    pub(super) call: u32,
    pub(super) cause: EarlyEnd,
    pub(super) why: String,
}

/// End of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CallEnd {
    /// It was answered, with this text if a later call says it again.
    Answered(Option<Result<String, String>>, AnswerVerdict),
    /// It failed.
    Failed(EarlyEnd, String),
    /// The run ended first.
    CutOff,
}

/// One session. Later sessions reuse its memory.
#[derive(Clone, Default, Debug)]
pub(super) struct AgentSession {
    pub(super) is_open: bool,
    /// Index of its graph.
    pub(super) graph: u32,
    pub(super) intended: Timestamp,
    pub(super) progress: Progress,
    /// By call: the escaped text that the model said.
    said: Vec<Option<Vec<u8>>>,
    said_bytes: usize,
    /// Calls that have become due and that the engine does not know yet.
    fresh: Vec<(Timestamp, u32)>,
    /// Latest end of a call.
    pub(super) end: Timestamp,
    pub(super) failure: Option<Failure>,
    /// The run ended while a call was in flight or due.
    pub(super) is_cut_off: bool,
    /// Worst verdict on an answer.
    pub(super) worst: Option<AnswerVerdict>,
}

impl AgentSession {
    /// Begins a session that arrives at `intended`.
    pub(super) fn open(&mut self, nth: u32, graph: &Graph, intended: Timestamp) {
        self.is_open = true;
        (self.graph, self.intended, self.end) = (nth, intended, intended);
        self.progress.begin(graph, intended);
        self.said.clear();
        self.said.resize(graph.calls.len(), None);
        self.said_bytes = 0;
        self.fresh.clear();
        // The engine knows the first one.
        self.fresh.extend(self.progress.all_due().skip(1).map(|at| (at, 0)));
        (self.failure, self.is_cut_off, self.worst) = (None, false, None);
    }

    /// Takes the call that is due first, and writes its request. Returns the call.
    pub(super) fn ask(
        &mut self,
        graph: &Graph,
        base: &RequestParts,
        body: &mut Vec<u8>,
        request: &mut RequestParts,
    ) -> Option<u32> {
        let (_, call) = self.progress.ask()?;
        let made = fill(&graph.calls[call as usize].body, &self.said, body);
        debug_assert!(made.is_ok(), "a call that is due can be made");
        write_request(base, body, request);
        Some(call)
    }

    /// Records the end of a call at `end`. `knows_texts`: texts that are said again are known.
    pub(super) fn ended(&mut self, graph: &Graph, call: u32, how: CallEnd, end: Timestamp, knows_texts: bool) {
        self.end = self.end.max(end);
        match how {
            CallEnd::CutOff => {
                self.is_cut_off = true;
                self.progress.cut_off();
            }
            CallEnd::Failed(cause, why) => self.fail(graph, call, cause, why),
            CallEnd::Answered(text, verdict) => {
                self.worst = Some(self.worst.map_or(verdict, |worst| worst.max(verdict)));
                match text.map(|text| text.and_then(|text| self.keep(call, &text))) {
                    Some(Err(why)) => {
                        self.fail(graph, call, EarlyEnd::Capture, format!("its text cannot be said again: {why}"))
                    }
                    Some(Ok(())) | None => self.answered(graph, call, end, knows_texts),
                }
            }
        }
    }

    fn keep(&mut self, call: u32, text: &str) -> Result<(), String> {
        let text = escaped(text);
        self.said_bytes += text.len();
        if self.said_bytes > MAX_TEXT_BYTES {
            return Err(format!("the texts of the session have more than {} MiB", MAX_TEXT_BYTES >> 20));
        }
        self.said[call as usize] = Some(text);
        Ok(())
    }

    fn fail(&mut self, graph: &Graph, call: u32, cause: EarlyEnd, why: String) {
        self.progress.failed(graph, call);
        self.failure.get_or_insert(Failure { call, cause, why });
    }

    fn answered(&mut self, graph: &Graph, call: u32, end: Timestamp, knows_texts: bool) {
        let before = self.fresh.len();
        self.progress.answered(graph, call, end, &mut self.fresh);
        if !knows_texts {
            return;
        }
        // If a request cannot be made, that is known now.
        for at in (before..self.fresh.len()).rev() {
            let (due, next) = self.fresh[at];
            if let Err(why) = check(&graph.calls[next as usize].body, &self.said) {
                self.fresh.remove(at);
                self.progress.give_up(graph, (due, next));
                let id = &graph.calls[next as usize].id;
                let why = format!("call '{id}' after it cannot be made: {why}");
                self.failure.get_or_insert(Failure { call, cause: EarlyEnd::Request, why });
            }
        }
    }

    /// Returns the time from the end of the call that ended last, at `end`, to a call that has become due.
    pub(super) fn think(&mut self, end: Timestamp) -> Option<Nanos> {
        self.fresh.pop().map(|(at, _)| at.since(end))
    }

    /// Adds the intended starts of the other calls that have become due to `due`.
    pub(super) fn branches(&mut self, due: &mut Vec<Timestamp>) {
        due.extend(self.fresh.drain(..).map(|(at, _)| at));
    }

    /// Closes it, and gives its texts back.
    pub(super) fn close(&mut self) {
        self.is_open = false;
        self.said.clear();
    }
}
