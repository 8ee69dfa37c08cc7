//! Did the generator have the processor time that it needed?

use truetail_model::workload::LoadModelKind;
use truetail_run::{Run, RunSource};

use super::thresholds::{GENERATOR_BUSY_SHARE, THROTTLED_SHARE};
use super::validity_issue::ValidityIssue;

pub(super) fn throttled(run: &Run) -> Option<ValidityIssue> {
    let throttled_ns = run.facts.generator.as_ref()?.surroundings.throttled_ns?;
    let elapsed_ns = run.facts.elapsed_ns;
    (throttled_ns as f64 >= elapsed_ns as f64 * THROTTLED_SHARE && throttled_ns > 0)
        .then_some(ValidityIssue::Throttled { throttled_ns, elapsed_ns })
}

/// Only on sockets and on a schedule: a closed loop is meant to go as fast as it can, and a callable's own work is done
/// in the worker.
pub(super) fn busy(run: &Run) -> Option<ValidityIssue> {
    let generator = run.facts.generator.as_ref()?;
    let scheduled = run.facts.offered.model != LoadModelKind::Closed && run.facts.source == RunSource::Sockets;
    let (cpu_ns, elapsed_ns) = (generator.busiest_worker_cpu_ns, run.facts.elapsed_ns);
    (scheduled && elapsed_ns > 0 && cpu_ns as f64 >= elapsed_ns as f64 * GENERATOR_BUSY_SHARE)
        .then_some(ValidityIssue::GeneratorBusy { cpu_ns, elapsed_ns, threads: generator.threads })
}
