//! Times that the service reports.

use truetail_engine::Plan;
use truetail_model::time::Timestamp;
use truetail_timing::{TimingRun, TimingSource};

use crate::args::server_timing::ServerTimingArgs;

/// Returns the times that a run reads, and adds their observer to the plan.
pub(super) fn server_timing(args: ServerTimingArgs, plan: &mut Plan) -> Option<TimingRun> {
    if args.server_timing.is_empty() {
        return None;
    }
    let mut sources: Vec<TimingSource> = Vec::new();
    for source in args.server_timing.into_iter().flat_map(|sources| sources.0) {
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let timing = TimingRun::new(sources, args.server_timing_order, Timestamp(plan.workload.warmup.0));
    plan.observe(timing.observer_factory());
    Some(timing)
}
