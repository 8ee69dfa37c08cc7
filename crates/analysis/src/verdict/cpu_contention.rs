//! Lack of processor time for the generator. A reason for doubt only if a number or the load shows it.

use truetail_model::workload::LoadModelKind;
use truetail_run::{Findings, Run, RunSource};

use super::figures::{displaced_share, most_doubtful};
use super::thresholds::{GENERATOR_BUSY_SHARE, OFF_SCHEDULE_SHARE, THROTTLED_SHARE};
use super::validity_issue::ValidityIssue;

/// Returns true if the generator moved a weighed quantile, or displaced enough arrivals to change the load.
fn has_effect(findings: &Findings) -> bool {
    most_doubtful(findings).is_some() || displaced_share(findings) > OFF_SCHEDULE_SHARE
}

pub(super) fn throttled(run: &Run, findings: &Findings) -> Option<ValidityIssue> {
    let throttled_ns = run.facts.generator.as_ref()?.surroundings.throttled_ns?;
    let elapsed_ns = run.facts.elapsed_ns;
    let is_much = throttled_ns as f64 >= elapsed_ns as f64 * THROTTLED_SHARE && throttled_ns > 0;
    let shows = run.facts.offered.model == LoadModelKind::Closed || has_effect(findings);
    (is_much && shows).then_some(ValidityIssue::Throttled { throttled_ns, elapsed_ns })
}

/// Applies only to sockets, because a Python callable does its own work in the worker. The throughput of a closed loop
/// is that of its slower side, so a busy generator means that the server could take more.
pub(super) fn busy(run: &Run, findings: &Findings) -> Option<ValidityIssue> {
    let generator = run.facts.generator.as_ref()?;
    let cpu_ns = generator.busiest_worker_cpu_ns;
    let elapsed_ns = run.facts.elapsed_ns;
    let is_busy = run.facts.source == RunSource::Sockets
        && elapsed_ns > 0
        && cpu_ns as f64 >= elapsed_ns as f64 * GENERATOR_BUSY_SHARE;
    let closed_loop = run.facts.offered.model == LoadModelKind::Closed;
    (is_busy && (closed_loop || has_effect(findings))).then_some(ValidityIssue::GeneratorBusy {
        cpu_ns,
        elapsed_ns,
        threads: generator.threads,
        closed_loop,
    })
}
