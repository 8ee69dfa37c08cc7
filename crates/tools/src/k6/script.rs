//! The script that k6 runs.

use serde_json::{Value, json};

use crate::{CommandError, LoadSpec};

/// Virtual users created before the run.
const INITIAL_VUS: u32 = 1_500;
/// Virtual users at most.
const MAX_VUS: u32 = 5_000;

/// `users` virtual users in a closed loop.
pub(super) fn constant_vus(load: &LoadSpec) -> String {
    script(load, &json!({ "executor": "constant-vus", "vus": load.users, "duration": millis(load.whole_millis()) }))
}

/// Iterations at `rate`.
///
/// # Errors
/// [`CommandError`] of `tool` for a rate that is not a whole number a second, a minute or an hour.
pub(super) fn constant_arrival_rate(load: &LoadSpec, tool: &'static str) -> Result<String, CommandError> {
    let (rate, seconds) = load.whole_rate(tool)?;
    let scenario = json!({
        "executor": "constant-arrival-rate",
        "rate": rate,
        "timeUnit": format!("{seconds}s"),
        "duration": millis(load.whole_millis()),
        "preAllocatedVUs": INITIAL_VUS,
        "maxVUs": MAX_VUS,
    });
    Ok(script(load, &scenario))
}

fn script(load: &LoadSpec, scenario: &Value) -> String {
    // Each request has about ten rows of samples, which further tags would make longer.
    let statistics = ["avg", "min", "med", "max", "p(90)", "p(99)", "p(99.9)", "p(99.99)", "count"];
    let options = json!({
        "discardResponseBodies": true,
        "systemTags": ["status", "error_code"],
        "summaryTrendStats": statistics,
        "scenarios": { "load": scenario },
    });
    let params = load.timeout_millis().map_or_else(|| json!({}), |timeout| json!({ "timeout": millis(timeout) }));
    let url = json!(load.url);
    format!(
        "import http from 'k6/http';\n\nexport const options = {options:#};\n\nexport default function () {{\n  \
         http.get({url}, {params});\n}}\n"
    )
}

fn millis(n: u64) -> String {
    format!("{n}ms")
}
