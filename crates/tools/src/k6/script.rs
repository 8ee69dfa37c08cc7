//! Scripts for k6.

use serde_json::{Value, json};

use super::parse::{TIMED_OUT, UNAVAILABLE, UNCONNECTED};
use crate::{CommandError, LoadSpec, grpc, model};

/// Virtual users created before the run.
const INITIAL_VUS: u32 = 1_500;
/// Maximum number of virtual users.
const MAX_VUS: u32 = 5_000;
/// Start of the script of [`calls`]. The options and `load` follow, and then [`CALL`].
const IMPORTS: &str = "import grpc from 'k6/net/grpc';\nimport { Counter, Trend } from 'k6/metrics';\n\n";
/// k6 writes no sample of a user that cannot connect, none of a call that meets its deadline, and the same status for a
/// connection that was lost as for a server that says UNAVAILABLE. Metrics of the script say so.
const CALL: &str = "
const client = new grpc.Client();
client.load([], load.proto);
const unconnected = new Counter(load.unconnected);
const unavailable = new Counter(load.unavailable);
const timedOut = new Trend(load.timedOut);
let connected = false;

export default function () {
  if (!connected) {
    try {
      client.connect(load.address, { plaintext: true });
    } catch (error) {
      unconnected.add(1, { error: `${error}` });
      return;
    }
    connected = true;
  }
  const began = Date.now();
  const answer = client.invoke(load.method, {}, load.params);
  if (answer.status === grpc.StatusUnavailable) {
    unavailable.add(1, { error: answer.error.message });
  } else if (answer.status === grpc.StatusDeadlineExceeded) {
    timedOut.add(Date.now() - began);
  }
}
";

/// Returns a script with `users` virtual users in a closed loop.
pub(super) fn constant_vus(load: &LoadSpec) -> String {
    let users = json!({ "executor": "constant-vus", "vus": load.users, "duration": millis(load.whole_millis()) });
    script(&users, load)
}

/// Returns a script whose iterations post a request for a stream at `rate`. Fails like [`constant_arrival_rate`].
pub(super) fn model(load: &LoadSpec, tool: &'static str) -> Result<String, CommandError> {
    let body = json!(model::body(load).to_string());
    let mut params = params(load);
    params["headers"] = json!({ "Content-Type": "application/json" });
    let post = format!("http.post({}, {body}, {params})", json!(load.url));
    Ok(requests(&arrivals(load, tool)?, &post))
}

/// Returns a script with iterations at `rate`. Fails for a rate that is not a whole number per second, minute or hour.
pub(super) fn constant_arrival_rate(load: &LoadSpec, tool: &'static str) -> Result<String, CommandError> {
    Ok(script(&arrivals(load, tool)?, load))
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

/// Returns a script whose iterations each make a request of the load.
fn script(scenario: &Value, load: &LoadSpec) -> String {
    if load.is_grpc() { calls(scenario, load) } else { requests(scenario, &get(load)) }
}

/// Returns a script whose iterations make `request`.
fn requests(scenario: &Value, request: &str) -> String {
    let options = options(scenario, &["status", "error_code"]);
    format!(
        "import http from 'k6/http';\n\nexport const options = {options:#};\n\nexport default function () {{\n  \
         {request};\n}}\n"
    )
}

/// Returns a script whose iterations call a method of gRPC. Each virtual user connects in its first iteration.
fn calls(scenario: &Value, load: &LoadSpec) -> String {
    let (address, method) = grpc::address_and_method(&load.url);
    let mut params = params(load);
    params["discardResponseMessage"] = json!(true);
    let options = options(scenario, &["status", "error", "vu"]);
    let load = json!({
        "address": address,
        "method": method,
        "params": params,
        "proto": grpc::FILE,
        "unconnected": UNCONNECTED,
        "unavailable": UNAVAILABLE,
        "timedOut": TIMED_OUT,
    });
    format!("{IMPORTS}export const options = {options:#};\nconst load = {load:#};\n{CALL}")
}

/// Each request has up to ten rows of samples, so tags other than `tags` are omitted.
fn options(scenario: &Value, tags: &[&str]) -> Value {
    let statistics = ["avg", "min", "med", "max", "p(90)", "p(99)", "p(99.9)", "p(99.99)", "count"];
    json!({
        "discardResponseBodies": true,
        "systemTags": tags,
        "summaryTrendStats": statistics,
        "scenarios": { "load": scenario },
    })
}

fn millis(n: u64) -> String {
    format!("{n}ms")
}
