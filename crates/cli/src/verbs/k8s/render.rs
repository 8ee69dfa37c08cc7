//! `truetail k8s render`: prints the Job as JSON.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use truetail_cluster::Start;

use super::job::SharedLoad;
use crate::args::k8s::RenderArgs;
use crate::args::stripe::StartAt;
use crate::error::{ExitCode, Result, usage_error};
use crate::output;
use crate::resolve::stripe::unix_ns;

/// Prints the manifest.
///
/// # Errors
/// If the load is not valid, or cannot be dealt out.
pub(super) fn render(args: &RenderArgs) -> Result<ExitCode> {
    let at = match &args.start_at {
        StartAt::At(at) if *at <= unix_ns() => {
            return Err(usage_error("--start-at is over; give an instant that is still to come, or +60s"));
        }
        StartAt::At(at) => *at,
        StartAt::After(time) => unix_ns().saturating_add(time.0),
        StartAt::In(_) => {
            return Err(usage_error("--start-at @FILE is for 'truetail k8s run'; give an instant, or +60s"));
        }
    };
    let load = SharedLoad::resolve(&args.job, args.load.words(|_| true))?;
    let start = Start::At(instant(at));
    let manifest = one_object(load.job(&args.job, start, None).manifests());
    output::print(&format!("{manifest:#}\n"))?;
    Ok(ExitCode::Success)
}

/// Returns a single object as it is, and several as a list, which kubectl creates in its order.
fn one_object(mut manifests: Vec<Value>) -> Value {
    match manifests.pop() {
        Some(manifest) if manifests.is_empty() => manifest,
        last => {
            manifests.extend(last);
            json!({"apiVersion": "v1", "kind": "List", "items": manifests})
        }
    }
}

/// Formats an instant, such as `2026-01-01T00:00:00.000000000Z`.
pub(super) fn instant(unix_ns: u64) -> String {
    humantime::format_rfc3339_nanos(UNIX_EPOCH + Duration::from_nanos(unix_ns)).to_string()
}
