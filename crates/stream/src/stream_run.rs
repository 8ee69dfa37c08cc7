//! The streams of a run, over all workers.

use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::ObserverFactory;
use truetail_model::time::Timestamp;
use truetail_run::StreamFacts;

use crate::found::Found;
use crate::observer::StreamObserver;
use crate::options::StreamOptions;

/// The streams of a run. Clones are of the same run.
#[derive(Clone, Debug)]
pub struct StreamRun {
    options: StreamOptions,
    /// By target: it asks for streams; `None`: all do.
    asking: Option<Arc<[bool]>>,
    measure_from: Timestamp,
    found: Arc<Mutex<StreamFacts>>,
}

impl StreamRun {
    /// Nothing yet. Arrivals before `measure_from` are in none of it.
    pub fn new(options: StreamOptions, measure_from: Timestamp) -> StreamRun {
        let found = Arc::new(Mutex::new(Found::new(&options).facts(&options)));
        StreamRun { options, asking: None, measure_from, found }
    }

    /// Of these targets only, by their numbers, do requests ask for streams: each of the run has its place in `asking`.
    #[must_use]
    pub fn of_targets(self, asking: Vec<bool>) -> StreamRun {
        StreamRun { asking: Some(asking.into()), ..self }
    }

    /// Makes the observers that do the work, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::new(move || {
            let (asking, found) = (run.asking.clone(), Arc::clone(&run.found));
            Box::new(StreamObserver::new(run.options.clone(), asking, run.measure_from, found))
        })
    }

    /// What was found. To be called after the run.
    pub fn facts(&self) -> StreamFacts {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
