//! The sessions of a run, over all workers.

use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::ObserverFactory;
use truetail_model::time::Timestamp;
use truetail_run::SessionFacts;

use crate::flows::Flows;
use crate::measured::Found;
use crate::script::{FlowScript, Plan};

/// The sessions of a run. Clones are of the same run.
#[derive(Clone, Debug)]
pub struct FlowRun {
    plan: Arc<Plan>,
    found: Arc<Mutex<Found>>,
}

impl FlowRun {
    /// Nothing yet. Sessions that arrive before `measure_from` are in none of it. `seed`: of what is drawn for sessions;
    /// `began_unix_s`: the wall clock, in seconds, so that cookies that have expired by then are not kept.
    pub fn new(flows: impl Into<Flows>, measure_from: Timestamp, seed: u64, began_unix_s: i64) -> FlowRun {
        let flows = flows.into();
        let found = Found::nothing(flows.itineraries());
        let plan = Plan { flows, began_unix_s, measure_from, seed };
        FlowRun { plan: Arc::new(plan), found: Arc::new(Mutex::new(found)) }
    }

    /// An answer may lead to a further request of its step.
    pub fn asks_again(&self) -> bool {
        self.plan.flows.asks_again()
    }

    /// Makes the scripts that do the work, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::of_script(move || Box::new(FlowScript::new(Arc::clone(&run.plan), Arc::clone(&run.found))))
    }

    /// What was found. To be called after the run.
    pub fn facts(&self) -> SessionFacts {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).facts()
    }

    /// Of a run of one session: its variables that have a text, as it left them, each as `--variable` takes it. To be called after
    /// the run.
    pub fn variables(&self) -> Vec<(String, String)> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).variables.clone()
    }

    /// For each step that ended a session by its answer: its name, and why the earliest of them ended there. To be called after
    /// the run.
    pub fn examples(&self) -> Vec<(String, String)> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.examples().map(|(name, why)| (name.to_owned(), why.to_owned())).collect()
    }

    /// Of the steps whose answers the flows call streams, how often their turn never came in a measured session. To be called after
    /// the run.
    pub fn streams_not_reached(&self) -> u64 {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = self.plan.flows.streams().zip(found.never_due());
        steps.filter(|((_, is_stream), _)| *is_stream).map(|(_, count)| count).sum()
    }

    /// What is to be said of it that belongs to no number. To be called after the run.
    pub fn notes(&self) -> Vec<String> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).notes()
    }
}
