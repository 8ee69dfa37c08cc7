//! The guided sessions of a run, over all workers.

use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::ObserverFactory;
use truetail_model::time::Timestamp;
use truetail_run::SessionFacts;

use super::guide::MakeGuide;
use super::plan::GuidedPlan;
use super::script::{GuidedScript, Shared};
use crate::measured::Found;

/// The guided sessions of a run. Clones are of the same run.
#[derive(Clone, Debug)]
pub struct GuidedRun {
    shared: Arc<Shared>,
    make_guide: MakeGuide,
}

impl GuidedRun {
    /// Nothing yet. Sessions that arrive before `measure_from` are in none of it. `began_unix_s`: the wall clock, in seconds, so
    /// that cookies that have expired by then are not kept.
    pub fn new(plan: GuidedPlan, make_guide: MakeGuide, measure_from: Timestamp, began_unix_s: i64) -> GuidedRun {
        let found = Mutex::new(Found::nothing(vec![plan.itinerary()]));
        GuidedRun { shared: Arc::new(Shared { plan, began_unix_s, measure_from, found }), make_guide }
    }

    /// Makes the scripts that do the work, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::of_script(move || Box::new(GuidedScript::new(Arc::clone(&run.shared), run.make_guide.guide())))
    }

    /// What was found. To be called after the run.
    pub fn facts(&self) -> SessionFacts {
        self.shared.found.lock().unwrap_or_else(PoisonError::into_inner).facts()
    }

    /// What is to be said of it that belongs to no number. To be called after the run.
    pub fn notes(&self) -> Vec<String> {
        self.shared.found.lock().unwrap_or_else(PoisonError::into_inner).notes()
    }
}
