use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::ObserverFactory;
use truetail_model::time::Timestamp;
use truetail_run::SessionFacts;

use crate::flows::Flows;
use crate::measured::SessionResults;
use crate::script::{FlowScript, Plan};

/// The sessions of a run, over all workers. Clones refer to the same run.
#[derive(Clone, Debug)]
pub struct FlowRun {
    plan: Arc<Plan>,
    found: Arc<Mutex<SessionResults>>,
}

impl FlowRun {
    /// Creates an empty record. Sessions that arrive before `measure_from` are left out. `seed` determines all random
    /// draws of sessions. `began_unix_s` is the wall clock in seconds, for cookies with an expiry date.
    pub fn new(flows: impl Into<Flows>, measure_from: Timestamp, seed: u64, began_unix_s: i64) -> FlowRun {
        let flows = flows.into();
        let found = SessionResults::nothing(flows.itineraries());
        let plan = Plan { flows, began_unix_s, measure_from, seed };
        FlowRun { plan: Arc::new(plan), found: Arc::new(Mutex::new(found)) }
    }

    /// Returns true if an answer may lead to a further request of its step.
    pub fn asks_again(&self) -> bool {
        self.plan.flows.asks_again()
    }

    /// Returns a factory of the scripts, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::with_script(move || Box::new(FlowScript::new(Arc::clone(&run.plan), Arc::clone(&run.found))))
    }

    /// Returns the results. Call it after the run.
    pub fn facts(&self) -> SessionFacts {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).facts()
    }

    /// Returns the final variables of a run with one session, if they have a text, as `--variable` accepts them. Call
    /// it after the run.
    pub fn variables(&self) -> Vec<(String, String)> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).variables.clone()
    }

    /// Returns each step that ended a session by its answer, with the reason of the earliest such session. Call it
    /// after the run.
    pub fn examples(&self) -> Vec<(String, String)> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.examples().map(|(name, why)| (name.to_owned(), why.to_owned())).collect()
    }

    /// Returns how often measured sessions never came to a step whose answer is a stream. Call it after the run.
    pub fn streams_not_reached(&self) -> u64 {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = self.plan.flows.streams().zip(found.never_due());
        steps.filter(|((_, is_stream), _)| *is_stream).map(|(_, count)| count).sum()
    }

    /// Returns remarks on the run that no number expresses. Call it after the run.
    pub fn notes(&self) -> Vec<String> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).notes()
    }
}
