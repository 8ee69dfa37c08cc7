//! What is asked of a run while it goes on: is a number narrow enough to stop, does the backlog grow without end?

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use truetail_analysis::saturation_detector::{RunProgress, Saturation, SaturationDetector};
use truetail_analysis::stopping_rule::{InterimResult, StoppingRule, next_interim_analysis};
use truetail_engine::{Control, Plan, host};
use truetail_model::arrival::RateProfile;
use truetail_model::record::{Metric, Snapshot};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;
use truetail_report::number;
use truetail_run::{Quantile, Run};

use crate::{output, progress};

/// Between two looks at the counts of a run.
const SECOND: Duration = Duration::from_secs(1);

/// When a run ends before its limit.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Terms {
    /// As soon as this is narrow enough.
    pub until: Option<StoppingRule>,
    /// What comes before the response time has settled does not count for [`Terms::until`].
    pub cut_warmup: bool,
    /// As soon as the backlog grows without end.
    pub stop_when_saturated: bool,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Supervised {
    /// Things to say of the run.
    pub notes: Vec<String>,
}

/// Looks at a run until it is asked for what came of it.
pub struct Supervisor {
    end: Sender<()>,
    thread: Option<JoinHandle<Supervised>>,
}

impl Supervisor {
    /// Looks after the run of `plan` in a thread of its own, which lets the workers go first. Where no thread can be
    /// had, nobody looks.
    pub fn start(plan: &Plan, terms: Terms, control: Control, quiet: bool) -> Supervisor {
        let (end, ended) = channel();
        let watched = Watched::new(plan.clone(), terms, control, quiet);
        let look = move || {
            host::lower_thread_priority();
            watched.look_after(&ended)
        };
        Supervisor { end, thread: thread::Builder::new().name("truetail-supervisor".to_owned()).spawn(look).ok() }
    }

    /// Ends it; to be called when the run has ended.
    pub fn end(self) -> Supervised {
        drop(self.end);
        self.thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

/// What the whole run says of `--until`, where it ended at its limit.
pub fn not_reached(until: StoppingRule, run: &Run) -> Option<String> {
    let look = until.evaluate(&truetail_analysis::quantile(run, Metric::ResponseTime, until.q()));
    let why = match look {
        InterimResult::Reached { .. } => return None,
        InterimResult::TooWide { half_width, times_as_many } => format!(
            "it is ±{:.1}% at the end; about {times_as_many:.1} times as many arrivals would do",
            half_width * 100.0
        ),
        InterimResult::NoEnd => "too few independent events to bound it".to_owned(),
        InterimResult::Needs { n } => format!("it needs at least {n} arrivals"),
        InterimResult::Unanswered => "it lies among arrivals without an answer".to_owned(),
    };
    Some(format!("--until '{until}' was not reached: {why}"))
}

struct Watched {
    plan: Plan,
    terms: Terms,
    control: Control,
    quiet: bool,
    began: Instant,
    saturation: SaturationDetector,
    told_saturated: bool,
    next_interim_analysis: Nanos,
    result: Supervised,
}

impl Watched {
    fn new(plan: Plan, terms: Terms, control: Control, quiet: bool) -> Watched {
        Watched {
            saturation: SaturationDetector::with_timeout(plan.workload.limits.timeout),
            plan,
            terms,
            control,
            quiet,
            began: Instant::now(),
            told_saturated: false,
            next_interim_analysis: next_interim_analysis(Nanos::ZERO),
            result: Supervised::default(),
        }
    }

    fn look_after(mut self, ended: &Receiver<()>) -> Supervised {
        for second in 1u32.. {
            let wait = (SECOND * second).saturating_sub(self.began.elapsed());
            if ended.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                break;
            }
            if self.control.was_stopped() || self.is_over() {
                continue;
            }
            self.watch_backlog();
            self.look();
        }
        self.result
    }

    fn elapsed(&self) -> Nanos {
        Nanos::from(self.began.elapsed())
    }

    /// No further arrivals come: what is outstanding shrinks, and nothing is left to stop.
    fn is_over(&self) -> bool {
        self.plan.workload.model.horizon().duration.is_some_and(|duration| self.elapsed() >= duration)
    }

    /// Arrivals that are expected to have been due by now.
    fn due(&self) -> Option<u64> {
        let LoadModel::Open(schedule) = &self.plan.workload.model else { return None };
        let due = schedule.profile.cumulative(self.elapsed().as_secs_f64()) as u64;
        Some(schedule.horizon.requests.map_or(due, |most| most.min(due)))
    }

    fn watch_backlog(&mut self) {
        let Some(planned) = self.due() else { return };
        let seen = self.control.progress();
        let ended = seen.responses + seen.unanswered;
        let standing = RunProgress { planned: planned.max(ended), ended, answered: seen.responses, median: seen.p50 };
        let Some(found) = self.saturation.observe(standing).filter(|_| !self.told_saturated) else { return };
        self.told_saturated = true;
        self.tell(&saturated(&found));
        if self.terms.stop_when_saturated {
            let after = number::time(self.elapsed().0);
            self.stop(format!("--stop-when-saturated stopped the load after {after}"));
        }
    }

    fn look(&mut self) {
        let measured = self.elapsed().saturating_sub(self.plan.workload.warmup);
        let Some(until) = self.terms.until.filter(|_| measured >= self.next_interim_analysis) else { return };
        let seen = self.control.progress();
        let ended = seen.responses + seen.unanswered;
        let outstanding = self.due().map_or(seen.in_flight, |due| due.saturating_sub(ended));
        if !until.is_ready(ended, outstanding) {
            return;
        }
        self.next_interim_analysis = next_interim_analysis(measured);
        let Some(snapshot) = self.control.recorded_so_far() else { return };
        if let InterimResult::Reached { half_width } = until.evaluate(&self.quantile_of(until, snapshot)) {
            let when = number::time(self.elapsed().0);
            self.stop(format!("--until '{until}' was reached after {when}, at ±{:.1}%", half_width * 100.0));
        }
    }

    fn quantile_of(&self, until: StoppingRule, snapshot: Snapshot) -> Quantile {
        let so_far = crate::measure::run_so_far(&self.plan, snapshot, self.elapsed());
        let cut = self.terms.cut_warmup.then(|| truetail_analysis::settling(&so_far).cut_ns).flatten();
        let settled = cut.and_then(|from| truetail_analysis::without_warmup(&so_far, Timestamp(from)).ok());
        truetail_analysis::quantile(&settled.unwrap_or(so_far), Metric::ResponseTime, until.q())
    }

    fn tell(&self, message: &str) {
        if !self.quiet {
            progress::make_room();
            output::note(message);
        }
    }

    fn stop(&mut self, why: String) {
        self.tell(&format!("{why}; waiting for answers"));
        self.result.notes.push(why);
        self.control.stop();
    }
}

fn saturated(found: &Saturation) -> String {
    format!(
        "saturated: {} are offered and {} answered, {} arrivals wait; response times depend on how long this goes \
         on, so offer less, such as {}",
        number::rate(found.offered_per_second),
        number::rate(found.capacity_per_second),
        number::count(found.outstanding),
        number::rate(found.suggested_per_second()),
    )
}
