//! Checks of a run.

use truetail_checks::CheckRun;
use truetail_engine::Plan;
use truetail_model::time::Timestamp;

use crate::args::checks::CheckArgs;

/// Returns the checks of a run, and adds their observer to the plan. `cut_warmup`: the warm-up is found after the run.
pub fn checks(args: CheckArgs, plan: &mut Plan, cut_warmup: bool) -> Option<CheckRun> {
    if args.checks.is_empty() {
        return None;
    }
    let measure_from = Timestamp(plan.workload.warmup.0);
    let checks = CheckRun::new(args.checks, plan.target.requests(), measure_from, cut_warmup);
    plan.observe(checks.observer_factory());
    Some(checks)
}
