//! Response headers that a run keeps.

use truetail_engine::Plan;
use truetail_model::time::Timestamp;
use truetail_timing::HeaderRun;

use crate::args::kept_headers::KeptHeaderArgs;
use crate::error::{Result, usage_error};

/// Returns the headers that a run keeps, and adds their observer to the plan.
///
/// # Errors
/// There are too many.
pub(super) fn kept_headers(args: &KeptHeaderArgs, plan: &mut Plan) -> Result<Option<HeaderRun>> {
    let names = args.names().map_err(usage_error)?;
    if names.is_empty() {
        return Ok(None);
    }
    let headers = HeaderRun::new(&names, Timestamp(plan.workload.warmup.0));
    plan.observe(headers.observer_factory());
    Ok(Some(headers))
}
