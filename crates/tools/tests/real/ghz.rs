//! ghz, with and without waiting for answers, calls our server, which answers gRPC with the feature http2.

use truetail_model::record::{Cause, Outcome};
use truetail_model::service::{Fault, Selector, Service};
use truetail_model::time::Nanos;

use crate::stamps::begins_and_ends_around_the_server;
use crate::support::{Observation, run, run_alone};

const BASELINE: Nanos = Nanos::from_millis(10);
const MODES: [&str; 2] = ["ghz", "ghz-async"];
const DUE: u64 = 200;

/// The number of calls is ghz's own end, so it is exact.
#[test]
#[ignore = "needs other people's load tools: make test-tools"]
fn every_call_is_counted_by_both_and_its_stamps_are_around_the_server() {
    for mode in MODES {
        let Some(Observation { report, truth }) = run(mode, Service::healthy(BASELINE), Nanos::from_secs(2)) else {
            continue;
        };
        assert_eq!((report.claims.requests, report.claims.failed), (Some(DUE), Some(0)), "{mode}");
        assert_eq!((report.requests.len() as u64, truth.totals.admitted), (DUE, DUE), "{mode}");
        assert!(report.claims.quantile(0.5).expect("a median").value_ns >= BASELINE.0, "{mode}");
        begins_and_ends_around_the_server(&report, &truth);
    }
}

#[test]
#[ignore = "needs other people's load tools: make test-tools"]
fn calls_that_the_service_refuses_are_failed_in_ghz_and_not_in_its_percentiles() {
    let select = Selector { every: Some(10), ..Selector::default() };
    let fault = Fault::ErrorStatus { status: 503, immediately: false, select };
    let service = Service { faults: vec![fault], ..Service::healthy(BASELINE) };
    let Some(Observation { report, .. }) = run("ghz", service, Nanos::from_secs(2)) else { return };
    let refused = report.requests.iter().filter(|one| one.outcome == Outcome::response(1014)).count();
    assert_eq!((refused, report.claims.failed, report.claims.measured), (20, Some(20), Some(DUE - 20)));
}

#[test]
#[ignore = "needs other people's load tools: make test-tools"]
fn where_nobody_listens_no_call_is_answered() {
    for mode in MODES {
        let Some(report) = run_alone(mode, Nanos::from_secs(1)) else { continue };
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.claims.measured, Some(0), "{mode}");
        let refused = Outcome::ConnectFailed(Cause::Refused);
        assert!(report.requests.len() == 100 && report.requests.iter().all(|one| one.outcome == refused), "{mode}");
    }
}
