//! The streams of a run, over all workers.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::ObserverFactory;
use truetail_model::time::Timestamp;
use truetail_run::StreamFacts;

use crate::all_found::AllFound;
use crate::found::Found;
use crate::observer::StreamObserver;
use crate::options::StreamOptions;
use crate::uncounted;

/// The streams of a run. Clones are of the same run.
#[derive(Clone, Debug)]
pub struct StreamRun {
    options: StreamOptions,
    /// By target: it asks for streams; `None`: all do.
    asking: Option<Arc<[bool]>>,
    /// The names of those that do, where not all do.
    of_steps: Vec<String>,
    measure_from: Timestamp,
    found: Arc<Mutex<AllFound>>,
}

impl StreamRun {
    /// Nothing yet. Arrivals before `measure_from` are in none of it.
    pub fn new(options: StreamOptions, measure_from: Timestamp) -> StreamRun {
        let found = Arc::new(Mutex::new(AllFound::new(&options)));
        StreamRun { options, asking: None, of_steps: Vec::new(), measure_from, found }
    }

    /// Of the targets of the run, which are steps of flows, only some ask for streams: each has its name here, and whether it does.
    #[must_use]
    pub fn of_steps<'a>(self, steps: impl Iterator<Item = (&'a str, bool)>) -> StreamRun {
        let (mut asking, mut of_steps) = (Vec::new(), Vec::new());
        for (name, is_stream) in steps {
            asking.push(is_stream);
            of_steps.extend(is_stream.then(|| name.to_owned()));
        }
        StreamRun { asking: Some(asking.into()), of_steps, ..self }
    }

    /// Makes the observers that do the work, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::new(move || {
            let (asking, found) = (run.asking.clone(), Arc::clone(&run.found));
            Box::new(StreamObserver::new(run.options.clone(), asking, run.measure_from, found))
        })
    }

    /// What was found. To be called after the run: with a tokenizer, it works now.
    pub fn facts(&self) -> StreamFacts {
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = mem::take(&mut all.waiting);
        let mut counted = Found::new(&self.options);
        uncounted::count(&waiting, &self.options, &mut counted);
        all.facts.merge(&counted.facts(&self.options));
        let mut facts = all.facts.clone();
        facts.reading.of_steps.clone_from(&self.of_steps);
        facts
    }
}
