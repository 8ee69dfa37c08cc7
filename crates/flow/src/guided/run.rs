use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::ObserverFactory;
use truetail_model::time::Timestamp;
use truetail_run::SessionFacts;

use super::guide::MakeGuide;
use super::plan::GuidedPlan;
use super::script::{GuidedScript, Shared};
use crate::measured::SessionResults;

/// The guided sessions of a run, over all workers. Clones refer to the same run.
#[derive(Clone, Debug)]
pub struct GuidedRun {
    shared: Arc<Shared>,
    make_guide: MakeGuide,
}

impl GuidedRun {
    /// Creates an empty record. Sessions that arrive before `measure_from` are left out. `began_unix_s` is the wall
    /// clock in seconds, for cookies with an expiry date.
    pub fn new(plan: GuidedPlan, make_guide: MakeGuide, measure_from: Timestamp, began_unix_s: i64) -> GuidedRun {
        let found = Mutex::new(SessionResults::nothing(vec![plan.itinerary()]));
        GuidedRun { shared: Arc::new(Shared { plan, began_unix_s, measure_from, found }), make_guide }
    }

    /// Returns a factory of the scripts, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::with_script(move || {
            Box::new(GuidedScript::new(Arc::clone(&run.shared), run.make_guide.guide()))
        })
    }

    /// Returns the results. Call it after the run.
    pub fn facts(&self) -> SessionFacts {
        self.shared.found.lock().unwrap_or_else(PoisonError::into_inner).facts()
    }

    /// Returns remarks on the run that no number expresses. Call it after the run.
    pub fn notes(&self) -> Vec<String> {
        self.shared.found.lock().unwrap_or_else(PoisonError::into_inner).notes()
    }
}
