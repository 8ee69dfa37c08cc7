//! The checks of a run, over all workers.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use truetail_engine::{ObserverFactory, RequestSet};
use truetail_model::time::Timestamp;
use truetail_run::{CheckCounts, FailedAnswer};

use crate::check::Check;
use crate::observer::{CheckObserver, CheckPlan, CheckResults};
use crate::tally::CheckTally;

/// Wraps the observers that check answers, so that they see another form of an answer, such as a decoded body.
pub(crate) type Reading = Arc<dyn Fn(ObserverFactory) -> ObserverFactory + Send + Sync>;

/// The checks of a run, and their results. Clones share the results.
#[derive(Clone)]
pub struct CheckRun {
    plan: Arc<CheckPlan>,
    /// How answers are read before checks see them.
    reading: Option<Reading>,
    found: Arc<Mutex<CheckResults>>,
    empty: CheckTally,
}

impl CheckRun {
    /// Prepares checks on the answers to `requests`. Answers to arrivals before `measure_from` are not counted. With
    /// `by_second`, [`CheckRun::counts`] can begin at any second; this takes 16 bytes for each second and check.
    pub fn new(checks: Vec<Check>, requests: &RequestSet, measure_from: Timestamp, by_second: bool) -> CheckRun {
        let plan = CheckPlan {
            needs_body: checks.iter().any(Check::needs_body),
            needs_fields: checks.iter().any(Check::needs_fields),
            targets: requests
                .targets()
                .iter()
                .map(|target| format!("{} {}", target.method().as_str(), target.url()))
                .collect(),
            measure_from,
            are_calls: false,
            checks,
        };
        CheckRun::with_plan(plan, by_second)
    }

    /// Returns the checks with a reading of answers, such as one that decodes bodies.
    #[must_use]
    pub fn with_reading(self, reading: Reading) -> CheckRun {
        CheckRun { reading: Some(reading), ..self }
    }

    /// Returns the checks for answers to gRPC calls, whose status is known.
    #[must_use]
    pub fn of_calls(self) -> CheckRun {
        let plan = CheckPlan { are_calls: true, ..(*self.plan).clone() };
        CheckRun { plan: Arc::new(plan), ..self }
    }

    fn with_plan(plan: CheckPlan, by_second: bool) -> CheckRun {
        let empty = CheckTally::new(plan.checks.len(), by_second);
        let found = CheckResults { tally: empty.clone(), failed: Vec::new() };
        CheckRun { plan: Arc::new(plan), reading: None, found: Arc::new(Mutex::new(found)), empty }
    }

    /// Returns the same checks for an answer before the run, which does not count in the run.
    pub fn before_the_run(&self) -> CheckRun {
        let plan = CheckPlan { measure_from: Timestamp::ZERO, ..(*self.plan).clone() };
        CheckRun { reading: self.reading.clone(), ..CheckRun::with_plan(plan, false) }
    }

    /// Returns a factory of observers that apply the checks, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        let reading = run.reading.clone();
        let factory = ObserverFactory::new(move || {
            Box::new(CheckObserver::new(Arc::clone(&run.plan), Arc::clone(&run.found), run.empty.clone()))
        });
        match reading {
            Some(reading) => reading(factory),
            None => factory,
        }
    }

    /// Counts the answers after a run, from `from` on, which is a whole second or the start of measurement.
    pub fn counts(&self, from: Timestamp) -> Vec<CheckCounts> {
        self.found().tally.since(from, &self.plan.checks)
    }

    /// Returns the first few answers that failed, in the order of their arrivals. Call this after the run.
    pub fn failed_answers(&self) -> Vec<FailedAnswer> {
        truetail_run::first_failed(self.found().failed.clone())
    }

    fn found(&self) -> MutexGuard<'_, CheckResults> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CheckRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckRun").field("plan", &self.plan).finish_non_exhaustive()
    }
}
