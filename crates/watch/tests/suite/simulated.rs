//! Simulated runs as watched runs.
#![allow(dead_code, reason = "included by tests and by an example")]

use truetail_analysis::gates;
use truetail_model::scenario::Scenario;
use truetail_model::time::Nanos;
use truetail_report::{LiveState, RunProgress};
use truetail_run::RunSource;
use truetail_sim::{SimError, SimOptions, simulate};
use truetail_watch::History;

/// Returns the run of `scenario` at its end, and looks at its counters once a second.
pub fn watched(scenario: &Scenario) -> Result<(LiveState, History), SimError> {
    let mut run = simulate(scenario, SimOptions::default())?;
    // As if it had been measured.
    run.facts.source = RunSource::Sockets;
    run.facts.offered.name = None;
    run.facts.offered.url = Some("http://127.0.0.1:8080/api".to_owned());
    run.facts.offered.method = Some("GET".to_owned());
    let mut findings = truetail_analysis::findings(&run);
    let asked = ["p99 > 50ms", "error-rate > 1%"].map(|gate| gate.parse().expect("a gate"));
    findings.gates = gates::judge_all(&asked, &run, &findings);
    let series = truetail_analysis::series::series(&run, &findings);
    let mut history = History::default();
    let mut seen = RunProgress { total: run.facts.offered.duration_ns.map(Nanos), ..RunProgress::default() };
    history.add(seen);
    for (second, counts) in run.snapshot.seconds.iter().enumerate() {
        seen.elapsed = Nanos::from_secs(second as u64 + 1);
        seen.planned += counts.planned;
        seen.sent += counts.sent;
        seen.answered += counts.completed;
        seen.failed += counts.failed;
        seen.in_flight = seen.sent.saturating_sub(seen.answered + seen.failed);
        history.add(seen);
    }
    let progress = *history.latest().expect("one look at least");
    Ok((LiveState { run, findings, series, progress, ended: false }, history))
}
