//! Stripe of a load, and its start.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use truetail_model::driver::Stripe;
use truetail_model::time::Nanos;
use truetail_model::workload::{LoadModel, Workload};

use crate::args::run::{RunArgs, WarmupValue};
use crate::args::stripe::StartAt;
use crate::error::{Result, usage_error};

/// Returns the stripe; the whole load without `--stripe`.
///
/// # Errors
/// If the load cannot be dealt out, or each machine would decide an option differently.
pub(crate) fn stripe(args: &RunArgs, workload: &Workload) -> Result<Stripe> {
    let Some(stripe) = args.machines.stripe else { return Ok(Stripe::WHOLE) };
    let has_slo = args.gates.slo.iter().any(|slo| slo.run_gate().is_some());
    let ours_alone: [(&str, bool, &str); 7] = [
        ("--until", args.until.is_some(), "each machine would stop at a time of its own"),
        ("--abort-on", !args.abort_on.is_empty(), "each machine would stop at a time of its own"),
        ("--stop-when-saturated", args.stop_when_saturated, "each machine would stop at a time of its own"),
        ("--warmup auto", args.warmup == Some(WarmupValue::Auto), "each machine would cut off another warm-up"),
        ("--fail-if", !args.gates.fail_if.is_empty(), "judge the merged run, with truetail report DIR --fail-if"),
        ("--slo", has_slo, "judge the merged run, with truetail report DIR --slo"),
        ("--baseline", args.baseline.baseline.is_some(), "compare the merged run, with truetail compare"),
    ];
    for (option, given, why) in ours_alone {
        if given {
            return Err(usage_error(format!("{option} has no meaning with --stripe {stripe}: {why}")));
        }
    }
    dealt_out(workload, stripe)
}

/// Returns `stripe` if each machine gets a part of `workload`.
///
/// # Errors
/// If there are fewer users or connections than machines.
pub(crate) fn dealt_out(workload: &Workload, stripe: Stripe) -> Result<Stripe> {
    let of = stripe.count();
    let too_few = |option: &str, there: u32| {
        usage_error(format!(
            "{option} {there} cannot be dealt out over {of} machines; give at least {option} {of}, or fewer stripes"
        ))
    };
    match (&workload.model, workload.limits.connections) {
        (LoadModel::Closed { users, .. }, _) if users.most() < of => Err(too_few("--users", users.most())),
        (_, Some(connections)) if connections < of => Err(too_few("--connections", connections)),
        _ => Ok(stripe),
    }
}

/// Returns the origin of the schedule in nanoseconds since 1970 UTC, if it was given and is known already.
///
/// # Errors
/// If it is in the past. A stripe is allowed to be late as long as a part of it can still be sent.
pub(crate) fn start_at(args: &RunArgs, workload: &Workload) -> Result<Option<u64>> {
    let now = unix_ns();
    match args.machines.start_at {
        None | Some(StartAt::In(_)) => Ok(None),
        Some(StartAt::After(time)) => Ok(Some(now.saturating_add(time.0))),
        Some(StartAt::At(at)) if at >= now => Ok(Some(at)),
        Some(StartAt::At(at)) => {
            let ago = Nanos(now - at);
            let left = workload.model.horizon().duration;
            let help = "give an instant that is still to come, or +10s";
            if args.machines.stripe.is_none() {
                return Err(usage_error(format!("--start-at was {} ago; {help}", seconds(ago))));
            }
            match left {
                Some(length) if ago < length => Ok(Some(at)),
                // If only a number of requests ends the load, the engine finds out what is left.
                None => Ok(Some(at)),
                Some(_) => Err(usage_error(format!(
                    "--start-at was {} ago, and nothing of the schedule is left; {help}",
                    seconds(ago)
                ))),
            }
        }
    }
}

/// Returns the file that will hold the origin of the schedule.
pub(crate) fn start_file(args: &RunArgs) -> Option<PathBuf> {
    match &args.machines.start_at {
        Some(StartAt::In(file)) => Some(file.clone()),
        _ => None,
    }
}

/// Returns the wall clock in nanoseconds since 1970 UTC.
pub(crate) fn unix_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| Nanos::from(since).0)
}

/// Formats a time in seconds, such as `3.2s`.
pub(crate) fn seconds(time: Nanos) -> String {
    format!("{:.1}s", time.0 as f64 / 1e9)
}
