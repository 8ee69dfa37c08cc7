//! Scripts for k6.

use serde_json::{Value, json};

use crate::{CommandError, LoadSpec, model};

/// Virtual users created before the run.
const INITIAL_VUS: u32 = 1_500;
/// Maximum number of virtual users.
const MAX_VUS: u32 = 5_000;

/// Returns a script with `users` virtual users in a closed loop.
pub(super) fn constant_vus(load: &LoadSpec) -> String {
    let users = json!({ "executor": "constant-vus", "vus": load.users, "duration": millis(load.whole_millis()) });
    script(&users, &get(load))
}

/// Returns a script whose iterations post a request for a stream at `rate`. Fails like [`constant_arrival_rate`].
pub(super) fn model(load: &LoadSpec, tool: &'static str) -> Result<String, CommandError> {
    let body = json!(model::body(load).to_string());
    let mut params = params(load);
    params["headers"] = json!({ "Content-Type": "application/json" });
    let post = format!("http.post({}, {body}, {params})", json!(load.url));
    Ok(script(&arrivals(load, tool)?, &post))
}

/// Returns a script with iterations at `rate`. Fails for a rate that is not a whole number per second, minute or hour.
pub(super) fn constant_arrival_rate(load: &LoadSpec, tool: &'static str) -> Result<String, CommandError> {
    Ok(script(&arrivals(load, tool)?, &get(load)))
}

fn arrivals(load: &LoadSpec, tool: &'static str) -> Result<Value, CommandError> {
    let (rate, seconds) = load.whole_rate(tool)?;
    Ok(json!({
        "executor": "constant-arrival-rate",
        "rate": rate,
        "timeUnit": format!("{seconds}s"),
        "duration": millis(load.whole_millis()),
        "preAllocatedVUs": INITIAL_VUS,
        "maxVUs": MAX_VUS,
    }))
}

fn get(load: &LoadSpec) -> String {
    format!("http.get({}, {})", json!(load.url), params(load))
}

fn params(load: &LoadSpec) -> Value {
    load.timeout_millis().map_or_else(|| json!({}), |timeout| json!({ "timeout": millis(timeout) }))
}

/// Returns a script whose iterations make `call`.
fn script(scenario: &Value, call: &str) -> String {
    // Each request has about ten rows of samples, so omit other tags.
    let statistics = ["avg", "min", "med", "max", "p(90)", "p(99)", "p(99.9)", "p(99.99)", "count"];
    let options = json!({
        "discardResponseBodies": true,
        "systemTags": ["status", "error_code"],
        "summaryTrendStats": statistics,
        "scenarios": { "load": scenario },
    });
    format!(
        "import http from 'k6/http';\n\nexport const options = {options:#};\n\nexport default function () {{\n  \
         {call};\n}}\n"
    )
}

fn millis(n: u64) -> String {
    format!("{n}ms")
}
