//! Calls of gRPC to our server, which answers them with the feature http2: ghz with and without waiting for answers,
//! k6 and fortio.

use truetail_model::record::{Cause, Outcome};
use truetail_model::service::{Fault, Selector, Service};
use truetail_model::time::Nanos;
use truetail_server::ServerTruth;
use truetail_tools::ToolReport;

use crate::stamps::begins_and_ends_around_the_server;
use crate::support::{Observation, calls, calls_alone};

const BASELINE: Nanos = Nanos::from_millis(10);
const DURATION: Nanos = Nanos::from_secs(2);
const DUE: u64 = 200;
/// Tools that end after a number of calls.
const EXACT: [&str; 3] = ["ghz", "ghz-async", "fortio"];
/// k6 makes one call more than is due, and others if the machine stalls. With users instead of a schedule it makes as
/// many as it can.
const K6: [&str; 2] = ["k6-constant-arrival-rate", "k6-constant-vus"];

/// Every n-th call is refused.
fn refusing(every: u64) -> Service {
    let select = Selector { every: Some(every), ..Selector::default() };
    let fault = Fault::ErrorStatus { status: 503, immediately: false, select };
    Service { faults: vec![fault], ..Service::healthy(BASELINE) }
}

/// Returns the calls that the server refused, by the tool and by the server.
fn refused(report: &ToolReport, truth: &ServerTruth) -> (usize, usize) {
    let by_tool = report.requests.iter().filter(|one| one.outcome == Outcome::response(1014));
    (by_tool.count(), truth.rows.iter().filter(|row| row.status == Some(503)).count())
}

#[test]
#[ignore = "needs other people's load tools: make test-tools"]
fn every_call_is_counted_by_both_and_its_stamps_are_around_the_server() {
    for tool in EXACT.into_iter().chain(K6) {
        let Some(Observation { report, truth }) = calls(tool, Service::healthy(BASELINE), DURATION) else { continue };
        let made = report.requests.len() as u64;
        assert_eq!((report.claims.requests, report.claims.measured), (Some(made), Some(made)), "{tool}");
        assert_eq!(truth.totals.admitted, made, "{tool}");
        assert!(report.requests.iter().all(|one| one.outcome == Outcome::response(200)), "{tool}: {:?}", report.notes);
        // k6 says nothing about failed calls.
        assert_eq!(report.claims.failed, EXACT.contains(&tool).then_some(0), "{tool}");
        assert!(if EXACT.contains(&tool) { made == DUE } else { made > 0 }, "{tool} made {made} calls");
        assert!(report.claims.quantile(0.5).expect("a median").value_ns >= BASELINE.0, "{tool}");
        begins_and_ends_around_the_server(&report, &truth);
    }
}

#[test]
#[ignore = "needs other people's load tools: make test-tools"]
fn calls_that_the_service_refuses_are_refused_in_every_tool() {
    for tool in EXACT.into_iter().chain(K6) {
        let Some(Observation { report, truth }) = calls(tool, refusing(10), DURATION) else { continue };
        let (by_tool, by_server) = refused(&report, &truth);
        assert!(by_tool == by_server && by_tool > 0, "{tool}: {by_tool}, and the server refused {by_server}");
        let made = report.requests.len() as u64;
        // ghz leaves them out of its percentiles.
        let left_out = if tool.starts_with("ghz") { by_tool as u64 } else { 0 };
        assert_eq!(report.claims.measured, Some(made - left_out), "{tool}");
        assert_eq!(report.claims.failed, EXACT.contains(&tool).then_some(by_tool as u64), "{tool}");
    }
}

#[test]
#[ignore = "needs other people's load tools: make test-tools"]
fn where_nobody_listens_no_call_is_answered() {
    for tool in EXACT.into_iter().chain(K6) {
        let Some(report) = calls_alone(tool, Nanos::from_secs(1)) else { continue };
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        // fortio has failed calls among its latencies.
        let measured = if tool == "fortio" { 100 } else { 0 };
        assert_eq!(report.claims.measured, Some(measured), "{tool}");
        let refused = Outcome::ConnectFailed(Cause::Refused);
        assert!(report.requests.iter().all(|one| one.outcome == refused), "{tool}: {:?}", report.notes);
        let made = report.requests.len() as u64;
        assert!(if EXACT.contains(&tool) { made == DUE / 2 } else { made > 0 }, "{tool} made {made} calls");
    }
}
