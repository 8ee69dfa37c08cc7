//! Requests that are cancelled on purpose.

use truetail_engine::{Plan, WireProtocol};
use truetail_model::cancellation::Cancellation;
use truetail_model::workload::LoadModelKind;

use super::load::DEFAULT_SEED;
use crate::args::run::RunArgs;
use crate::error::{Result, usage_error};

/// Returns the choice of requests that are cancelled.
///
/// # Errors
/// If the timeout comes first, or if the load is one of messages or sessions.
pub(super) fn cancel(args: &RunArgs, plan: &Plan) -> Result<Option<Cancellation>> {
    let Some(cancel) = args.cancel else { return Ok(None) };
    let refused = |problem: &str| Err(usage_error(format!("--cancel '{cancel}': {problem}")));
    if matches!(plan.target.protocol(), WireProtocol::Messages(_)) {
        return refused("a message that was sent cannot be called back; leave it out");
    }
    if plan.workload.model.kind() == LoadModelKind::PartlyOpen {
        return refused("in a session, one request depends on the answer to another; leave it out");
    }
    if plan.workload.limits.timeout.is_some_and(|timeout| timeout <= cancel.after()) {
        return refused("--timeout ends a request first; give a shorter time, or a longer --timeout");
    }
    Ok(Some(Cancellation { seed: args.seed.unwrap_or(DEFAULT_SEED), ..cancel }))
}
