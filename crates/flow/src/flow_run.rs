//! The sessions of a run, over all workers.

use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::ObserverFactory;
use truetail_model::time::Timestamp;
use truetail_run::SessionFacts;

use crate::books::{Itinerary, SessionBooks};
use crate::cookies::Site;
use crate::course::Example;
use crate::flow::Flow;
use crate::script::{FlowScript, Found, Plan};

/// The sessions of a run. Clones are of the same run.
#[derive(Clone, Debug)]
pub struct FlowRun {
    plan: Arc<Plan>,
    found: Arc<Mutex<Found>>,
}

impl FlowRun {
    /// Nothing yet. Sessions that arrive before `measure_from` are in none of it. `seed`: of what is drawn for sessions;
    /// `began_unix_s`: the wall clock, in seconds, so that cookies that have expired by then are not kept.
    pub fn new(flow: Flow, measure_from: Timestamp, seed: u64, began_unix_s: i64) -> FlowRun {
        let itinerary = flow.itinerary();
        let facts = SessionBooks::new(&itinerary).facts(flow.name(), &itinerary);
        let found = Found { facts, examples: vec![None; itinerary.steps.len()] };
        let site = Site { host: flow.host().to_owned(), is_secure: flow.origin().is_https(), began_unix_s };
        let plan = Plan { flow, itinerary, site, measure_from, seed };
        FlowRun { plan: Arc::new(plan), found: Arc::new(Mutex::new(found)) }
    }

    /// An answer may lead to a further request of its step.
    pub fn asks_again(&self) -> bool {
        self.plan.flow.asks_again()
    }

    /// Makes the scripts that do the work, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::of_script(move || Box::new(FlowScript::new(Arc::clone(&run.plan), Arc::clone(&run.found))))
    }

    /// What was found. To be called after the run.
    pub fn facts(&self) -> SessionFacts {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).facts.clone()
    }

    /// For each step that ended a session by its answer: its name, and why the first of them ended there. To be called after
    /// the run.
    pub fn examples(&self) -> Vec<(String, String)> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        examples(&self.plan.itinerary, &found.examples).map(|(name, why)| (name.to_owned(), why.to_owned())).collect()
    }

    /// What is to be said of it that belongs to no number. To be called after the run.
    pub fn notes(&self) -> Vec<String> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        notes(&found.facts, &self.plan.itinerary, &found.examples)
    }
}

/// For each step that ended a session by its answer: its name, and why the first of them ended there.
fn examples<'a>(itinerary: &'a Itinerary, found: &'a [Example]) -> impl Iterator<Item = (&'a str, &'a str)> {
    let names = itinerary.steps.iter().map(|(name, _)| name.as_str());
    names.zip(found).filter_map(|(name, example)| Some((name, example.as_ref()?.1.as_str())))
}

/// What is to be said of sessions that belongs to no number.
pub(crate) fn notes(facts: &SessionFacts, itinerary: &Itinerary, found: &[Example]) -> Vec<String> {
    let imbalance = facts.imbalance().or_else(|| facts.imbalance_of_sample().map(str::to_owned));
    let imbalance = imbalance.map(|why| format!("a bug of truetail: the books of sessions are wrong: {why}"));
    let first_ends = examples(itinerary, found).map(|(step, why)| format!("first end at {step}: {why}"));
    imbalance.into_iter().chain(first_ends).collect()
}
