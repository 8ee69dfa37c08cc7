//! Runs whose exit code a noisy machine changed, and the measured cause that each must have.
//!
//! A run may be INVALID, or leave a gate open, because the machine stalled. Then `run.json` also holds a measurement
//! of the stall: pauses, late requests, steal, throttling, pressure. Without one, truetail is at fault, and the test
//! fails.

use serde_json::Value;

/// Length of a pause that can make a run INVALID, nanoseconds.
const LONG_PAUSE_NS: f64 = 100e6;
/// Lateness of requests that counts as not sent in time, nanoseconds.
const NOT_IN_TIME_NS: f64 = 100e6;
/// Lateness or pause that can leave a gate open, and lateness that a long pause leaves behind, nanoseconds. Quiet
/// machines are more punctual.
const LATE_NS: f64 = 1e6;
/// Minimum share of a run during which the machine was short of processors, if that is to explain anything.
const SHORT_SHARE: f64 = 0.05;

/// Returns the exit code of a run that ends with `code` on a quiet machine.
///
/// # Errors
/// If the run is INVALID, or a gate is open, without a measured cause.
pub fn expected_code(run: &Value, code: i32) -> Result<i32, String> {
    let gates = run["gates"].as_array().map_or(&[][..], Vec::as_slice);
    let has = |state: &str| gates.iter().any(|gate| gate["state"] == state);
    if gates.is_empty() && run["verdict"]["state"] == "INVALID" {
        explain(run)?;
        return Ok(if code == 0 { 4 } else { code });
    }
    if code == 4 || !has("open") || has("fails") {
        return Ok(code);
    }
    let stalled = latest_ns(run).max(longest_pause_ns(run)) >= LATE_NS;
    if stalled { Ok(4) } else { Err(format!("no cause for an open gate: {}", run["gates"])) }
}

/// Checks that each reason that makes the run INVALID has a measured cause outside truetail.
fn explain(run: &Value) -> Result<(), String> {
    let reasons = run["verdict"]["reasons"].as_array().map_or(&[][..], Vec::as_slice);
    let mut invalid = reasons.iter().filter(|reason| reason["state"] == "INVALID").peekable();
    if invalid.peek().is_none() {
        return Err(format!("INVALID without a reason: {}", run["verdict"]));
    }
    match invalid.find(|reason| !is_explained(run, reason)) {
        Some(reason) => Err(format!("no cause for {reason} in {}", run["generator"])),
        None => Ok(()),
    }
}

/// Returns true if the run holds a measurement that explains the reason. No machine explains the other reasons.
fn is_explained(run: &Value, reason: &Value) -> bool {
    let code = reason["because"].as_str().or(reason["code"].as_str()).unwrap_or_default();
    match code {
        "generator_paused" => longest_pause_ns(run) >= LONG_PAUSE_NS && latest_ns(run) >= LATE_NS,
        "rate_not_reached" => latest_ns(run) >= NOT_IN_TIME_NS && is_short_of_processors(run),
        "saturated" => waited_for_backlog(run, reason) && is_short_of_processors(run),
        _ => false,
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

fn longest_pause_ns(run: &Value) -> f64 {
    let pauses = run["generator"]["pauses"].as_array().map_or(&[][..], Vec::as_slice);
    pauses.iter().map(|pause| number(&pause["length_ns"])).fold(0.0, f64::max)
}

/// Returns true if some request waited about as long as its backlog takes to arrive, and longer than any server of
/// these tests takes.
fn waited_for_backlog(run: &Value, reason: &Value) -> bool {
    let backlog_ns = number(&reason["backlog"]) / number(&reason["offered_per_second"]).max(1e-9) * 1e9;
    let longest_ns = number(&run["response_time"]["max_ns"]);
    backlog_ns > 0.0 && longest_ns >= NOT_IN_TIME_NS && longest_ns >= backlog_ns / 2.0
}

fn latest_ns(run: &Value) -> f64 {
    number(&run["generator_lag"]["max_ns"])
}

/// Returns true if the generator or the whole machine had to wait for processors.
fn is_short_of_processors(run: &Value) -> bool {
    let generator = &run["generator"];
    let around = &generator["surroundings"];
    let waits = [
        number(&generator["paused_ns"]) / number(&generator["threads"]).max(1.0),
        number(&generator["busiest_worker_cpu_ns"]) / 10.0,
        number(&around["steal_ns"]) / number(&run["host"]["cpus"]).max(1.0),
        number(&around["throttled_ns"]),
        number(&around["cpu_pressure_ns"]),
    ];
    waits.into_iter().any(|wait_ns| wait_ns > 0.0 && wait_ns >= number(&run["elapsed_ns"]) * SHORT_SHARE)
}

/// Tests of the excuses, on runs that no machine made.
mod tests {
    use serde_json::json;

    use super::*;

    /// A run of 1 s on a quiet machine that is INVALID for this reason.
    fn invalid(code: &str) -> Value {
        let quiet = json!({"steal_ns": 0, "throttled_ns": null, "cpu_pressure_ns": 1_000_000});
        json!({
            "elapsed_ns": 1_000_000_000, "gates": [], "host": {"cpus": 2}, "generator_lag": {"max_ns": 90_000},
            "verdict": {"state": "INVALID", "reasons": [
                {"code": code, "state": "INVALID", "backlog": 50, "offered_per_second": 200.0},
                {"code": "not_stationary", "state": "SUSPECT"},
            ]},
            "response_time": {"max_ns": 11_000_000},
            "generator": {"threads": 2, "paused_ns": 0, "pauses": [], "busiest_worker_cpu_ns": 1_000_000,
                "surroundings": quiet},
        })
    }

    fn with(mut run: Value, changes: &[(&str, Value)]) -> Value {
        for (pointer, value) in changes {
            *run.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value.clone();
        }
        run
    }

    #[test]
    fn an_invalid_run_without_a_measured_cause_fails_the_test() {
        for code in truetail_analysis::verdict::code::ALL {
            for expected in [0, 3, 4] {
                assert!(expected_code(&invalid(code), expected).is_err(), "{code}");
            }
        }
        let groundless = with(invalid("saturated"), &[("/verdict/reasons", json!([]))]);
        assert!(expected_code(&groundless, 0).is_err());
    }

    #[test]
    fn a_stall_explains_what_follows_from_it_and_nothing_else() {
        let stalled = [
            ("/generator/paused_ns", json!(300_000_000)),
            ("/generator/pauses", json!([{"worker": 0, "at_ns": 0, "length_ns": 300_000_000}])),
            ("/generator_lag/max_ns", json!(290_000_000)),
            ("/response_time/max_ns", json!(250_000_000)),
            ("/generator/surroundings/steal_ns", json!(700_000_000)),
            ("/generator/surroundings/cpu_pressure_ns", json!(700_000_000)),
        ];
        for code in truetail_analysis::verdict::code::ALL {
            let explained = ["generator_paused", "rate_not_reached", "saturated"].contains(code);
            let found = expected_code(&with(invalid(code), &stalled), 0);
            assert_eq!(found.ok(), explained.then_some(4), "{code}");
        }
        // The generator calls itself paused, but no request was late.
        assert!(expected_code(&with(invalid("generator_paused"), &stalled[..2]), 0).is_err());
        // Requests were late, but the generator had the processors.
        assert!(expected_code(&with(invalid("rate_not_reached"), &stalled[2..3]), 0).is_err());
        // The machine was busy, but no request waited, or not for a backlog of this size.
        assert!(expected_code(&with(invalid("saturated"), &stalled[4..]), 0).is_err());
        let small = with(with(invalid("saturated"), &stalled), &[("/response_time/max_ns", json!(110_000_000))]);
        assert!(expected_code(&small, 0).is_err());
        // A gate is decided whatever the verdict says.
        let gated = with(with(invalid("saturated"), &stalled), &[("/gates", json!([{"state": "fails"}]))]);
        assert_eq!(expected_code(&gated, 3), Ok(3));
    }

    #[test]
    fn an_open_gate_needs_late_requests_or_a_pause() {
        let valid = with(invalid("saturated"), &[("/verdict", json!({"state": "VALID", "reasons": []}))]);
        let gated = with(valid, &[("/gates", json!([{"state": "open"}, {"state": "holds"}]))]);
        assert!(expected_code(&gated, 0).is_err());
        assert_eq!(expected_code(&gated, 4), Ok(4));
        let paused = json!([{"worker": 0, "at_ns": 0, "length_ns": 2_000_000}]);
        assert_eq!(expected_code(&with(gated.clone(), &[("/generator/pauses", paused)]), 0), Ok(4));
        assert_eq!(expected_code(&with(gated, &[("/generator_lag/max_ns", json!(5_000_000))]), 0), Ok(4));
    }
}
