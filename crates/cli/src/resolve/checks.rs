//! Checks of a run.

use std::sync::Arc;

use truetail_checks::CheckRun;
use truetail_engine::Plan;
use truetail_grpc::{CallMethod, decoding};
use truetail_model::time::Timestamp;

use crate::args::checks::CheckArgs;

/// Returns the checks of a run, and adds their observer to the plan. `called` has the method of
/// gRPC calls of each target. `cut_warmup`
/// means that the warm-up is found after the run.
pub(crate) fn checks(args: CheckArgs, plan: &mut Plan, called: Vec<CallMethod>, cut_warmup: bool) -> Option<CheckRun> {
    if args.checks.is_empty() {
        return None;
    }
    let measure_from = Timestamp(plan.workload.warmup.0);
    let checks = CheckRun::new(args.checks, plan.target.requests(), measure_from, cut_warmup);
    let checks = if called.is_empty() {
        checks
    } else {
        let methods: Arc<[CallMethod]> = called.into();
        checks.of_calls().with_reading(Arc::new(move |reader| decoding(methods.clone(), reader)))
    };
    plan.observe(checks.observer_factory());
    Some(checks)
}
