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
    measure_from: Timestamp,
    found: Arc<Mutex<StreamFacts>>,
}

impl StreamRun {
    /// Nothing yet. Arrivals before `measure_from` are in none of it.
    pub fn new(options: StreamOptions, measure_from: Timestamp) -> StreamRun {
        let found = Arc::new(Mutex::new(Found::new(&options).facts(&options)));
        StreamRun { options, measure_from, found }
    }

    /// Makes the observers that do the work, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::new(move || {
            Box::new(StreamObserver::new(run.options.clone(), run.measure_from, Arc::clone(&run.found)))
        })
    }

    /// What was found. To be called after the run.
    pub fn facts(&self) -> StreamFacts {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
