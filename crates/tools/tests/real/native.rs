//! ab, hey, wrk, wrk2, h2load, oha, autocannon.

use truetail_model::record::Outcome;
use truetail_model::service::{Fault, Selector, Service};
use truetail_model::time::Nanos;
use truetail_server::ServerTruth;
use truetail_tools::ToolReport;

use crate::stamps::begins_and_ends_around_the_server;
use crate::support::{CONNECTIONS, Observation, RATE, USERS, run, run_alone};

const BASELINE: Nanos = Nanos::from_millis(10);

/// Expectations of a tool.
struct Expected {
    name: &'static str,
    /// Its count of answers.
    answers: fn(&ToolReport) -> Option<u64>,
    /// Its count of answers with an error status.
    error_answers: fn(&ToolReport) -> Option<u64>,
    /// Maximum number of requests that the server saw and the tool does not mention: requests in flight at its end.
    unmentioned: u64,
}

const CLOSED: Expected =
    Expected { name: "", answers: measured, error_answers: error_statuses, unmentioned: USERS as u64 };
const AB: Expected = Expected { name: "ab", error_answers: failed, ..CLOSED };
const HEY: Expected = Expected { name: "hey", ..CLOSED };
/// wrk does not report the number of requests in its back-filled histogram.
const WRK: Expected = Expected { name: "wrk", answers: requests, error_answers: failed, ..CLOSED };
/// The latencies of wrk2 lack one or two of the requests that it counts.
const WRK2: Expected = Expected { name: "wrk2", unmentioned: CONNECTIONS as u64, ..WRK };
const H2LOAD: Expected = Expected { name: "h2load", ..CLOSED };
/// oha waits for requests in flight, because of `-w`.
const OHA: Expected = Expected { name: "oha", unmentioned: 0, ..CLOSED };
const AUTOCANNON: Expected = Expected { name: "autocannon", error_answers: failed, ..CLOSED };

fn measured(report: &ToolReport) -> Option<u64> {
    report.claims.measured
}

fn requests(report: &ToolReport) -> Option<u64> {
    report.claims.requests
}

fn failed(report: &ToolReport) -> Option<u64> {
    report.claims.failed
}

fn error_statuses(report: &ToolReport) -> Option<u64> {
    let is_error = Outcome::has_error_status;
    Some(report.requests.iter().filter(|request| is_error(request.outcome)).count() as u64)
}

/// Tests a healthy service: tool and server count the same answers, and the median is at least the service time.
fn healthy(expected: &Expected) {
    let Some(Observation { report, truth }) = run(expected.name, Service::healthy(BASELINE), Nanos::from_secs(2))
    else {
        return;
    };
    println!("{:?}", report.claims);
    let answers = (expected.answers)(&report).expect("it counts its answers");
    is_near(expected, "answers", answers, truth.totals.admitted);
    assert!(answers > 0, "nothing was answered");
    assert!((expected.error_answers)(&report).unwrap_or_default() == 0, "{:?}", report.claims);
    let median = report.claims.quantile(0.5).expect("a median").value_ns;
    // autocannon truncates to whole milliseconds.
    assert!(median >= BASELINE.0 - 1_000_000, "a median of {median} ns");
    assert_eq!(report.snapshot().tally.check(), Ok(()));
}

/// Tests a service whose every tenth answer is a 503: the tool and the server count the same. There are more errors
/// than a tool may leave unmentioned, so a tool that counts none fails.
fn failing(expected: &Expected) {
    let select = Selector { every: Some(10), ..Selector::default() };
    let fault = Fault::ErrorStatus { status: 503, immediately: false, select };
    let service = Service { faults: vec![fault], ..Service::healthy(BASELINE) };
    let Some(Observation { report, truth }) = run(expected.name, service, Nanos::from_secs(4)) else { return };
    let counted = (expected.error_answers)(&report).expect("it counts them");
    let gave = refusals(&truth);
    assert!(gave >= 2 * expected.unmentioned.max(1), "{} made the server refuse no more than {gave}", expected.name);
    is_near(expected, "answers with an error status", counted, gave);
}

fn refusals(truth: &ServerTruth) -> u64 {
    truth.rows.iter().filter(|row| row.status == Some(503)).count() as u64
}

fn is_near(expected: &Expected, what: &str, tool: u64, server: u64) {
    let Expected { name, unmentioned, .. } = *expected;
    assert!(
        tool <= server && server <= tool + unmentioned,
        "{name} counts {tool} {what}, the server {server}; at most {unmentioned} may be missing"
    );
}

/// Tests an address without a server: the tool fails, or reports no answer.
fn alone(expected: &Expected) {
    match run_alone(expected.name, Nanos::from_secs(1)) {
        Some(Ok(report)) => {
            // ab includes its failures in the measured requests.
            let measured = report.claims.measured;
            let failed = report.claims.failed;
            assert!(measured.unwrap_or_default() <= failed.unwrap_or_default(), "{:?}", report.claims);
            assert!(report.requests.is_empty() && report.histogram.is_none(), "{:?}", report.claims);
        }
        Some(Err(error)) => assert!(error.to_string().contains("refused"), "{error}"),
        None => (),
    }
}

macro_rules! tools {
    ($($name:ident: $expected:ident;)*) => {$(
        mod $name {
            #[test]
            #[ignore = "needs other people's load tools: make test-tools"]
            fn counts_the_answers_of_a_healthy_server() {
                super::healthy(&super::$expected);
            }

            #[test]
            #[ignore = "needs other people's load tools: make test-tools"]
            fn counts_the_answers_with_an_error_status() {
                super::failing(&super::$expected);
            }

            #[test]
            #[ignore = "needs other people's load tools: make test-tools"]
            fn reports_no_answer_where_nobody_listens() {
                super::alone(&super::$expected);
            }
        }
    )*};
}

tools! {
    ab: AB;
    hey: HEY;
    wrk: WRK;
    wrk2: WRK2;
    h2load: H2LOAD;
    oha: OHA;
    autocannon: AUTOCANNON;
}

/// h2load's timestamps are on this machine's clock.
#[test]
#[ignore = "needs other people's load tools: make test-tools"]
fn h2load_stamps_the_starts() {
    if let Some(Observation { report, truth }) = run(H2LOAD.name, Service::healthy(BASELINE), Nanos::from_secs(1)) {
        begins_and_ends_around_the_server(&report, &truth);
    }
}

/// An open tool offers its rate. A closed loop would offer ten times as much, so ±50 % allows for a noisy machine.
#[test]
#[ignore = "needs other people's load tools: make test-tools"]
fn open_tools_offer_their_rate() {
    for expected in [WRK2, OHA] {
        let Some(Observation { truth, .. }) = run(expected.name, Service::healthy(BASELINE), Nanos::from_secs(2))
        else {
            continue;
        };
        let admitted = truth.totals.admitted as f64;
        let due = 2.0 * RATE;
        assert!((0.5 * due..1.5 * due).contains(&admitted), "{}: {admitted} of {due}", expected.name);
    }
}
