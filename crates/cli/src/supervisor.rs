//! Conditions that stop a run early: a quantile that is narrow enough, or a backlog that grows without end.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use truetail_analysis::capacity::{AbortRule, AbortWatch};
use truetail_analysis::saturation_detector::{RunCounts, Saturation, SaturationDetector};
use truetail_analysis::stopping_rule::{InterimResult, StoppingRule, next_interim_analysis};
use truetail_engine::{Control, Plan, host};
use truetail_model::arrival::RateProfile;
use truetail_model::record::{Metric, Snapshot};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;
use truetail_report::number;
use truetail_run::{Quantile, Run};

use crate::live::{DueArrivals, run_so_far};
use crate::{output, progress};

/// Time from one check of a run to the next.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Conditions that end a run before its limit.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct StopConditions {
    /// Stop as soon as this quantile is narrow enough.
    pub until: Option<StoppingRule>,
    /// Leave out the time before response times settled, for [`StopConditions::until`].
    pub cut_warmup: bool,
    /// Stop as soon as the backlog grows without end.
    pub stop_when_saturated: bool,
    /// Stop as soon as the service is shown to meet any of these.
    pub abort_on: Vec<AbortRule>,
}

/// Checks the stop conditions of a run, until it is ended.
pub(crate) struct Supervisor {
    end: Sender<()>,
    thread: Option<JoinHandle<Vec<String>>>,
}

impl Supervisor {
    /// Supervises the run of `plan` on a low-priority thread. If no thread can be started, no condition is checked.
    pub(crate) fn start(plan: &Plan, conditions: StopConditions, control: Control, quiet: bool) -> Supervisor {
        let (end, ended) = channel();
        let supervised = SupervisedRun::new(plan.clone(), conditions, control, quiet);
        let supervise = move || {
            host::lower_thread_priority();
            supervised.check_until(&ended)
        };
        let thread = thread::Builder::new().name("truetail-supervisor".to_owned()).spawn(supervise).ok();
        Supervisor { end, thread }
    }

    /// Ends the supervision after the run, and returns notes for the run.
    pub(crate) fn end(self) -> Vec<String> {
        drop(self.end);
        self.thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

/// Returns why a run that ended at its limit did not reach `--until`; `None` if it did.
pub(crate) fn not_reached(until: StoppingRule, run: &Run) -> Option<String> {
    let state = until.evaluate(&truetail_analysis::quantile(run, Metric::ResponseTime, until.q()));
    let why = match state {
        InterimResult::Reached { .. } => return None,
        InterimResult::TooWide { half_width, times_as_many } => format!(
            "±{:.1}% at the end; about {times_as_many:.1} times as many requests would reach it",
            half_width * 100.0
        ),
        InterimResult::NoEnd => "too few independent requests for an interval".to_owned(),
        InterimResult::Needs { n } => format!("needs at least {n} requests"),
        InterimResult::Unanswered => "the percentile falls among requests without an answer".to_owned(),
    };
    Some(format!("--until '{until}' not reached: {why}"))
}

struct SupervisedRun {
    plan: Plan,
    conditions: StopConditions,
    control: Control,
    quiet: bool,
    began: Instant,
    saturation: SaturationDetector,
    told_saturated: bool,
    next_interim_analysis: Nanos,
    abort: AbortWatch,
    due_for_abort: DueArrivals,
    notes: Vec<String>,
}

impl SupervisedRun {
    fn new(plan: Plan, conditions: StopConditions, control: Control, quiet: bool) -> SupervisedRun {
        SupervisedRun {
            saturation: SaturationDetector::with_timeout(plan.workload.limits.timeout),
            abort: AbortWatch::new(conditions.abort_on.clone(), planned(&plan)),
            due_for_abort: DueArrivals::new(&plan),
            plan,
            conditions,
            control,
            quiet,
            began: Instant::now(),
            told_saturated: false,
            next_interim_analysis: next_interim_analysis(Nanos::ZERO),
            notes: Vec::new(),
        }
    }

    /// Checks every [`CHECK_INTERVAL`] until `ended`, and returns notes for the run.
    fn check_until(mut self, ended: &Receiver<()>) -> Vec<String> {
        for check in 1u32.. {
            let wait = (CHECK_INTERVAL * check).saturating_sub(self.began.elapsed());
            if ended.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                break;
            }
            if self.control.was_stopped() || self.is_over() {
                continue;
            }
            self.check_backlog();
            self.check_quantile();
            self.check_abort();
        }
        self.notes
    }

    /// Returns the time since the load began; zero before.
    fn elapsed(&self) -> Nanos {
        self.control.elapsed().unwrap_or_default().saturating_sub(self.control.begins_after())
    }

    /// Returns true if all arrivals have been due. The run then only waits for answers, and nothing is left to stop.
    fn is_over(&self) -> bool {
        self.plan.workload.model.horizon().duration.is_some_and(|duration| self.elapsed() >= duration)
    }

    /// Returns the expected number of arrivals that are due; `None` if it depends on answers.
    fn due(&self) -> Option<u64> {
        let LoadModel::Open(schedule) = &self.plan.workload.model else { return None };
        let due = schedule.profile.cumulative(self.elapsed().as_secs_f64()) as u64;
        Some(schedule.horizon.requests.map_or(due, |most| most.min(due)))
    }

    fn check_backlog(&mut self) {
        let Some(planned) = self.due() else { return };
        let seen = self.control.progress();
        let ended = seen.ended();
        let counts = RunCounts { planned: planned.max(ended), ended, answered: seen.responses, median: seen.p50 };
        let Some(found) = self.saturation.observe(counts).filter(|_| !self.told_saturated) else { return };
        self.told_saturated = true;
        self.tell(&saturated(&found));
        if self.conditions.stop_when_saturated {
            let after = number::time(self.elapsed().0);
            self.stop(format!("--stop-when-saturated stopped the load after {after}"));
        }
    }

    fn check_quantile(&mut self) {
        let measured = self.elapsed().saturating_sub(self.plan.workload.warmup);
        let Some(until) = self.conditions.until.filter(|_| measured >= self.next_interim_analysis) else { return };
        let seen = self.control.progress();
        let ended = seen.ended();
        let outstanding = self.due().map_or(seen.in_flight, |due| due.saturating_sub(ended));
        if !until.is_ready(ended, outstanding) {
            return;
        }
        self.next_interim_analysis = next_interim_analysis(measured);
        let Some(snapshot) = self.control.recorded_so_far() else { return };
        if let InterimResult::Reached { half_width } = until.evaluate(&self.quantile_of(until, snapshot)) {
            let when = number::time(self.elapsed().0);
            self.stop(format!("--until '{until}' reached after {when}, at ±{:.1}%", half_width * 100.0));
        }
    }

    fn check_abort(&mut self) {
        let measured = self.elapsed().saturating_sub(self.plan.workload.warmup);
        if !self.abort.is_due(measured) || self.control.was_stopped() {
            return;
        }
        // Read before the records, which therefore hold everything that ended by then.
        let Some(elapsed) = self.control.elapsed() else { return };
        let Some(snapshot) = self.control.recorded_so_far() else { return };
        let before = self.abort.judged_before(&snapshot, Timestamp(elapsed.0));
        self.due_for_abort.advance(Timestamp(self.control.begins_after().0), before);
        let due = self.due_for_abort.by_second().iter().sum();
        if let Some(met) = self.abort.look(measured, &snapshot, before, due) {
            let when = number::time(self.elapsed().0);
            self.stop(format!("--abort-on {met}; the load ended after {when}"));
        }
    }

    fn quantile_of(&self, until: StoppingRule, snapshot: Snapshot) -> Quantile {
        let so_far = run_so_far(&self.plan, snapshot, self.elapsed());
        let cut = self.conditions.cut_warmup.then(|| truetail_analysis::settling(&so_far).cut_ns).flatten();
        let settled = cut.and_then(|from| truetail_analysis::without_warmup(&so_far, Timestamp(from)).ok());
        truetail_analysis::quantile(&settled.unwrap_or(so_far), Metric::ResponseTime, until.q())
    }

    fn tell(&self, message: &str) {
        if !self.quiet {
            progress::clear_line();
            output::note(message);
        }
    }

    fn stop(&mut self, why: String) {
        self.tell(&format!("{why}; waiting for answers"));
        self.notes.push(why);
        self.control.stop();
    }
}

/// Returns the number of arrivals of the whole run, warm-up included. `None` if it depends on answers.
fn planned(plan: &Plan) -> Option<u64> {
    match &plan.workload.model {
        LoadModel::Open(schedule) => schedule.count(),
        LoadModel::Closed { horizon, .. } => horizon.requests,
        LoadModel::PartlyOpen { .. } => None,
    }
}

fn saturated(found: &Saturation) -> String {
    format!(
        "saturated: {} offered, {} answered, {} requests waiting; response times only grow with the length of the run, \
         so offer less, such as {}",
        number::rate(found.offered_per_second),
        number::rate(found.capacity_per_second),
        number::count(found.outstanding),
        number::rate(found.suggested_per_second()),
    )
}
