//! The sessions of agents in a run.

use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{ObserverFactory, Request, both_readers};
use truetail_model::time::Timestamp;
use truetail_run::{SessionFacts, StreamKind};
use truetail_stream::StreamRun;

use super::books::AgentBooks;
use super::graph::AgentGraphs;
use super::script::AgentScript;
use super::shared::Shared;

/// The sessions of agents in a run, over all workers. Clones refer to the same run.
#[derive(Clone, Debug)]
pub struct AgentRun {
    shared: Arc<Shared>,
    streams: StreamRun,
}

impl AgentRun {
    /// Creates an empty record. `base` is the request of all calls, without a body. Sessions that arrive before
    /// `measure_from` are left out. `streams` measures the answers.
    pub fn new(agents: AgentGraphs, base: &Request, measure_from: Timestamp, streams: StreamRun) -> AgentRun {
        let has_objectives = streams.has_objectives();
        let found = Mutex::new(AgentBooks::new(&agents, has_objectives));
        let has_lines = streams.kind() == StreamKind::Lines;
        let shared = Shared { agents, base: base.parts(), measure_from, has_objectives, has_lines, found };
        AgentRun { shared: Arc::new(shared), streams }
    }

    /// Returns a factory of the observers of streams and sessions, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::with_script(move || {
            let (streams, verdict) = run.streams.judging_observer();
            both_readers(streams, Box::new(AgentScript::new(Arc::clone(&run.shared), verdict)))
        })
    }

    /// Returns the results. Call it after the run.
    pub fn facts(&self) -> SessionFacts {
        self.shared.found.lock().unwrap_or_else(PoisonError::into_inner).facts()
    }

    /// Returns how many calls of measured sessions never became due. Call it after the run.
    pub fn streams_not_reached(&self) -> u64 {
        self.shared.found.lock().unwrap_or_else(PoisonError::into_inner).never_due()
    }

    /// Returns remarks on the run that no number expresses. Call it after the run.
    pub fn notes(&self) -> Vec<String> {
        self.shared.found.lock().unwrap_or_else(PoisonError::into_inner).notes()
    }
}
