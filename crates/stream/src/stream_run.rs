use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{AnswerReader, ObserverFactory};
use truetail_model::record::Samples;
use truetail_model::time::Timestamp;
use truetail_run::{LlmApi, StreamFacts, StreamKind, StreamRows};

use crate::all_found::CombinedResults;
use crate::asking::Asking;
use crate::found::StreamResults;
use crate::llm_answer::CountedLater;
use crate::observer::StreamObserver;
use crate::options::StreamOptions;
use crate::pushes::PushObserver;
use crate::uncounted;
use crate::verdict::LastVerdict;

/// The streams of a run, over all workers. Clones refer to the same run.
#[derive(Clone, Debug)]
pub struct StreamRun {
    options: StreamOptions,
    asking: Asking,
    /// Names of the targets that ask for streams, if not all do.
    of_steps: Vec<String>,
    measure_from: Timestamp,
    found: Arc<Mutex<CombinedResults>>,
}

impl StreamRun {
    /// Creates an empty record. Arrivals before `measure_from` are left out.
    pub fn new(options: StreamOptions, measure_from: Timestamp) -> StreamRun {
        let found = Arc::new(Mutex::new(CombinedResults::new(&options)));
        StreamRun { options, asking: Asking::default(), of_steps: Vec::new(), measure_from, found }
    }

    /// Sets which targets ask for streams, if they are steps of flows. `steps` pairs each name with whether it asks.
    #[must_use]
    pub fn with_steps<'a>(self, steps: impl Iterator<Item = (&'a str, bool)>) -> StreamRun {
        let mut asking = Vec::new();
        let mut of_steps = Vec::new();
        for (name, is_stream) in steps {
            asking.push(is_stream);
            of_steps.extend(is_stream.then(|| name.to_owned()));
        }
        StreamRun { asking: Asking { streams: Some(asking.into()), ..self.asking }, of_steps, ..self }
    }

    /// Sets which targets ask the server of a language model to repeat the prompt, by target. Nothing tells where the
    /// prompt ends in their answers, so that times of their content are unknown.
    #[must_use]
    pub fn with_echoes(self, echoes: Vec<bool>) -> StreamRun {
        let echoes = echoes.contains(&true).then(|| echoes.into());
        StreamRun { asking: Asking { echoes, ..self.asking }, ..self }
    }

    /// Returns true if answers are read as those of a language model.
    pub fn is_of_llm(&self) -> bool {
        self.options.llm.is_some()
    }

    /// Returns the API of the language model, if answers are read as its own.
    pub fn llm_api(&self) -> Option<LlmApi> {
        self.options.llm.as_ref().map(|llm| llm.api)
    }

    /// Returns true if each answer is compared with objectives.
    pub fn has_objectives(&self) -> bool {
        self.options.llm.as_ref().is_some_and(|llm| !llm.slo.is_empty())
    }

    /// Returns the definition of an event.
    pub fn kind(&self) -> StreamKind {
        self.options.kind
    }

    /// Returns true if some targets ask the server to repeat the prompt.
    pub fn asks_for_echo(&self) -> bool {
        self.asking.echoes.is_some()
    }

    /// Returns a factory of the observers, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::new(move || {
            let asking = run.asking.clone();
            let found = Arc::clone(&run.found);
            if run.options.kind == StreamKind::Pushes {
                return Box::new(PushObserver::new(run.options.clone(), run.measure_from, found));
            }
            Box::new(StreamObserver::new(run.options.clone(), asking, run.measure_from, found))
        })
    }

    /// Returns an observer of one worker, and the place of its verdicts for an observer beside it.
    pub fn judging_observer(&self) -> (Box<dyn AnswerReader>, LastVerdict) {
        let found = Arc::clone(&self.found);
        let observer = StreamObserver::new(self.options.clone(), self.asking.clone(), self.measure_from, found);
        let verdict = observer.verdict();
        (Box::new(observer), verdict)
    }

    /// Also keeps times and counts by intended start, for [`StreamRun::rows`]. Call it before the run.
    pub fn keep_rows(&self) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).rows = Some(StreamRows::default());
    }

    /// Returns the streams so far by intended start, except for ends of the last tenth of a second. After the
    /// run all are in them. They are empty unless [`StreamRun::keep_rows`] was called.
    pub fn rows(&self) -> StreamRows {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).rows.clone().unwrap_or_default()
    }

    /// Forgets the results, so that another run can be observed. Observers of an earlier run must have ended.
    pub fn restart(&self) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = found.rows.as_ref().map(|_| StreamRows::default());
        *found = CombinedResults { rows, ..CombinedResults::new(&self.options) };
    }

    /// Returns the results, with the streams of the requests in `samples`. Call it after the run: a tokenizer does its
    /// work now.
    pub fn facts(&self, samples: &Samples) -> StreamFacts {
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = mem::take(&mut all.waiting);
        let mut counted = StreamResults::new(&self.options);
        let later = uncounted::count(&waiting, &self.options, &mut counted);
        let later: HashMap<u64, CountedLater> = later.into_iter().map(|later| (later.index, later)).collect();
        all.kept.change_each(|row| later.get(&row.index).map_or(*row, |later| later.add_to(row)));
        all.facts.merge(&counted.facts(&self.options));
        let mut facts = all.facts.clone();
        facts.reading.of_steps.clone_from(&self.of_steps);
        facts.requests = all.kept.of_samples(samples);
        facts
    }
}
