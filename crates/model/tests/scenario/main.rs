//! Scenario files: reading, refusal with a message, and no loss on writing and reading back.

#[path = "../suite/any/mod.rs"]
mod any;
mod any_scenario;
mod documented;
mod read;
mod refused;
mod round_trip;
mod scaled;

use truetail_model::scenario::Scenario;
use truetail_model::service::Fault;

const S: u64 = 1_000_000_000;

fn parse(text: &str) -> Result<Scenario, String> {
    Scenario::parse(text, "x.toml").map_err(|error| error.to_string())
}

/// Returns a scenario of one minute at 1000/s with these lines in its sections.
fn file(workload: &str, service: &str) -> String {
    format!("[workload]\nrate = 1000\nduration = \"60s\"\n{workload}\n[service]\nbaseline = \"10ms\"\n{service}\n")
}

/// Returns the fault of a file with these lines, which are separated by `;`.
fn fault(lines: &str) -> Result<Fault, String> {
    let lines = lines.replace("; ", "\n");
    parse(&file("", &format!("[[service.fault]]\n{lines}"))).map(|scenario| scenario.service.faults[0].clone())
}
