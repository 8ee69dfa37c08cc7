use std::sync::Mutex;

use truetail_engine::RequestParts;
use truetail_model::time::Timestamp;

use super::books::AgentBooks;
use super::graph::AgentGraphs;

/// State that all workers of a run share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) agents: AgentGraphs,
    /// The request of all calls, without a body.
    pub(super) base: RequestParts,
    /// Sessions that arrive before this are not counted.
    pub(super) measure_from: Timestamp,
    pub(super) has_objectives: bool,
    /// The events of answers are lines.
    pub(super) has_lines: bool,
    pub(super) found: Mutex<AgentBooks>,
}

impl Shared {
    pub(super) fn empty_books(&self) -> AgentBooks {
        AgentBooks::new(&self.agents, self.has_objectives)
    }
}
