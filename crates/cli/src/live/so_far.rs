//! What was recorded so far, as a run of its own.

use truetail_engine::{Control, Plan, RunOutput};
use truetail_model::record::Snapshot;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{Findings, GeneratorStats, Run, RunSource};

use super::due::DueArrivals;
use crate::judging::Judge;

/// What is to be known of a run by those who look at it while it goes on.
#[derive(Clone, Debug)]
pub struct FeedSource {
    /// What is offered.
    pub plan: Plan,
    /// The handle to the run.
    pub control: Control,
    /// What is made of the result.
    pub judge: Judge,
    /// The command line, without secrets.
    pub command: String,
}

/// A run that goes on, as if it had been stopped at the moment.
#[derive(Debug)]
pub struct SoFar {
    source: FeedSource,
    due: DueArrivals,
    /// What is due is no longer planned from the moment on at which the run was stopped.
    stopped: bool,
}

impl SoFar {
    /// Of the run of `source`, which need not have begun.
    pub fn new(source: FeedSource) -> SoFar {
        SoFar { due: DueArrivals::new(&source.plan), source, stopped: false }
    }

    /// How many arrivals were due, the warm-up included, as far as they are known in advance.
    pub fn due(&self) -> u64 {
        self.due.count()
    }

    /// The run, whose books are closed, and its findings; `None` before it has begun. Asks the workers for what they recorded
    /// and costs them nothing else.
    pub fn now(&mut self) -> Option<(Run, Findings)> {
        let FeedSource { plan, control, judge, command } = &self.source;
        // Read before the records are asked for: what is due by then is in them.
        let elapsed = control.elapsed()?;
        // Arrivals that were due between the last look and the stop count once they are begun.
        self.stopped |= control.was_stopped();
        if !self.stopped {
            self.due.advance(Timestamp(control.begins_after().0), Timestamp(elapsed.0));
        }
        let mut so_far = run_so_far(plan, control.recorded_so_far()?, elapsed);
        so_far.facts.command = Some(command.clone());
        so_far.facts.stripe = plan.stripe_facts();
        so_far.facts.started_at_unix_ns = control.started_at_unix_ns();
        Some(judge.judge_so_far(truetail_analysis::stopped_now(so_far, self.due.by_second())))
    }
}

/// `snapshot`, taken `elapsed` after the origin, as a run. Its books do not balance: see
/// [`truetail_analysis::stopped_now`].
pub fn run_so_far(plan: &Plan, snapshot: Snapshot, elapsed: Nanos) -> Run {
    let generator = GeneratorStats::default();
    let measured = RunOutput {
        snapshot,
        by_target: Vec::new(),
        generator,
        start: None,
        started_at_unix_ns: 0,
        elapsed,
        cut_short: true,
    };
    let mut run = measured.into_run(RunSource::Sockets, plan.offered());
    run.facts.interrupted = true;
    // Not known before the end.
    run.facts.generator = None;
    run
}
