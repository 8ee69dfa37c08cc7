//! The checks of a run, over all workers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use truetail_engine::{ObserverFactory, RequestSet};
use truetail_model::time::Timestamp;
use truetail_run::{CheckCounts, FailedAnswer};

use crate::check::Check;
use crate::observer::{CheckObserver, CheckPlan, CheckResults};
use crate::tally::CheckTally;

/// The checks of a run, and their results. Clones share the results.
#[derive(Clone, Debug)]
pub struct CheckRun {
    plan: Arc<CheckPlan>,
    found: Arc<Mutex<CheckResults>>,
    empty: CheckTally,
}

impl CheckRun {
    /// Prepares checks on the answers to `requests`. Answers to arrivals before `measure_from` are not counted.
    /// `by_second` also keeps counts from a later time on, which takes 16 bytes for each second and check.
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
            checks,
        };
        CheckRun::with_plan(plan, by_second)
    }

    fn with_plan(plan: CheckPlan, by_second: bool) -> CheckRun {
        let empty = CheckTally::new(plan.checks.len(), by_second);
        let found = CheckResults { tally: empty.clone(), failed: Vec::new() };
        CheckRun { plan: Arc::new(plan), found: Arc::new(Mutex::new(found)), empty }
    }

    /// Returns the same checks for an answer before the run, which does not count in the run.
    pub fn before_the_run(&self) -> CheckRun {
        CheckRun::with_plan(CheckPlan { measure_from: Timestamp::ZERO, ..(*self.plan).clone() }, false)
    }

    /// Returns a factory of observers that apply the checks, for [`truetail_engine::Plan::observer`].
    pub fn observer_factory(&self) -> ObserverFactory {
        let run = self.clone();
        ObserverFactory::new(move || {
            Box::new(CheckObserver::new(Arc::clone(&run.plan), Arc::clone(&run.found), run.empty.clone()))
        })
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
