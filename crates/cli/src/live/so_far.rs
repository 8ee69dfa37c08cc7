//! What was recorded so far, as a run of its own.

use truetail_engine::{Plan, RunOutput};
use truetail_model::record::Snapshot;
use truetail_model::time::Nanos;
use truetail_run::{GeneratorStats, Run, RunSource};

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
