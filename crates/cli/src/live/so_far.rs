//! Data recorded by a running load, as a run that can be analysed.

use truetail_engine::{Control, Plan, RunOutput};
use truetail_model::record::Snapshot;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{Findings, GeneratorStats, Run, RunSource};

use super::due::DueArrivals;
use crate::judging::Judge;
use crate::labels::RunLabels;

/// Access to a run for observers.
#[derive(Clone, Debug)]
pub(crate) struct FeedSource {
    pub plan: Plan,
    pub control: Control,
    pub judge: Judge,
    pub labels: RunLabels,
}

/// A run in progress, as if it had been stopped at this moment.
#[derive(Debug)]
pub(super) struct SoFar {
    source: FeedSource,
    due: DueArrivals,
    /// True once the run was stopped. From then on, no more arrivals are planned.
    stopped: bool,
}

impl SoFar {
    /// Observes the run of `source`, which need not have begun.
    pub(super) fn new(source: FeedSource) -> SoFar {
        SoFar { due: DueArrivals::new(&source.plan), source, stopped: false }
    }

    /// Returns the number of arrivals that were due, warm-up included, as far as known in advance.
    pub(super) fn due(&self) -> u64 {
        self.due.count()
    }

    /// Returns the run with closed books, and its findings; `None` before it has begun. Asks the workers for their
    /// records, and costs them nothing else.
    pub(super) fn now(&mut self) -> Option<(Run, Findings)> {
        let FeedSource { plan, control, judge, labels } = &self.source;
        // Read before the records, which therefore hold everything due by then.
        let elapsed = control.elapsed()?;
        // Arrivals due between the last look and the stop count once they are begun.
        self.stopped |= control.was_stopped();
        if !self.stopped {
            self.due.advance(Timestamp(control.begins_after().0), Timestamp(elapsed.0));
        }
        let mut so_far = run_so_far(plan, control.recorded_so_far()?, elapsed);
        plan.target.requests().tell_rows(&mut so_far.snapshot.samples);
        labels.clone().add_to(&mut so_far.facts);
        so_far.facts.stripe = plan.stripe_facts();
        so_far.facts.started_at_unix_ns = control.started_at_unix_ns();
        Some(judge.judge_so_far(truetail_analysis::stopped_now(so_far, self.due.by_second())))
    }
}

/// Returns `snapshot`, taken `elapsed` after the origin, as a run. Its books do not balance;
/// [`truetail_analysis::stopped_now`] closes them.
pub(crate) fn run_so_far(plan: &Plan, snapshot: Snapshot, elapsed: Nanos) -> Run {
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
    // Known only at the end.
    run.facts.generator = None;
    run
}
