//! Tools that report start and latency of every request on this machine's clock. Vegeta, k6, JMeter, Gatling and fortio
//! wait for the last answer; Locust does not.

use truetail_model::record::Outcome;
use truetail_model::service::{Fault, Selector, Service};
use truetail_model::time::{NANOS_PER_SECOND, Nanos};
use truetail_server::ServerTruth;
use truetail_tools::ToolReport;

use crate::support::{Observation, RATE, USERS, run, run_alone};

const BASELINE: Nanos = Nanos::from_millis(10);
/// Duration of a run. Locust uses up a part of it before its first request.
const DURATION: Nanos = Nanos::from_secs(4);

/// Some timestamps are in whole milliseconds, and JMeter adjusts its clock every five seconds. Half the baseline still
/// reveals an end that is taken for a start.
const TOLERANCE_NS: u64 = BASELINE.0 / 2;

/// Expectations of a tool.
struct Expected {
    name: &'static str,
    /// Smallest and largest number of requests of an open tool, as shares of the due requests. A closed loop would make
    /// ten times as many.
    open: Option<(f64, f64)>,
    /// Maximum number of requests that the server saw and the tool does not mention: requests in flight at its end.
    unmentioned: u64,
}

/// Vegeta catches up after a stall of the machine, unless its time is over.
const VEGETA: Expected = Expected { name: "vegeta", open: Some((0.5, 1.0)), unmentioned: 0 };
/// k6 may make one more request than is due. After a stall of the machine it continues beyond its time: 4.32 s instead
/// of 4 were seen. Its users without a schedule would make several times as many.
const K6_RATE: Expected = Expected { name: "k6-constant-arrival-rate", open: Some((0.5, 1.5)), ..VEGETA };
const K6_VUS: Expected = Expected { name: "k6-constant-vus", open: None, ..VEGETA };
/// JMeter's arrivals are a Poisson process. Its schedule starts before its threads, which then catch up.
const JMETER_RATE: Expected = Expected { name: "jmeter-precise-throughput", open: Some((0.5, 3.0)), ..VEGETA };
const JMETER_THREADS: Expected = Expected { name: "jmeter-thread-group", open: None, ..VEGETA };
const LOCUST: Expected = Expected { name: "locust", open: None, unmentioned: USERS as u64 };
/// Gatling makes all due requests, even late.
const GATLING: Expected = Expected { name: "gatling", open: Some((1.0, 1.0)), ..VEGETA };
/// fortio ends after a number of requests.
const FORTIO: Expected = Expected { name: "fortio", ..GATLING };

/// Tests a service whose every tenth answer is a 503, and which is healthy otherwise.
fn answered(expected: &Expected) {
    let select = Selector { every: Some(10), ..Selector::default() };
    let fault = Fault::ErrorStatus { status: 503, immediately: false, select };
    let service = Service { faults: vec![fault], ..Service::healthy(BASELINE) };
    let Some(Observation { report, truth }) = run(expected.name, service, DURATION) else { return };
    println!("{:?} {:?}", report.claims, report.notes);
    let rows = report.requests.len() as u64;
    let expected_note = |note: &String| note.contains("were due");
    assert!(rows > 0 && report.notes.iter().all(expected_note), "{rows} requests, {:?}", report.notes);
    is_near(expected, "requests", rows, truth.totals.admitted);
    let refused = with(&report, |outcome| outcome == Outcome::response(503));
    let gave = truth.rows.iter().filter(|row| row.status == Some(503)).count() as u64;
    is_near(expected, "answers with an error status", refused, gave);
    assert_eq!(
        with(&report, |outcome| matches!(outcome.status(), None | Some(200)) && outcome.is_response()),
        rows - refused
    );
    assert_eq!((report.claims.requests, report.claims.failed), (Some(rows), Some(refused)));
    assert_eq!(report.snapshot().tally.check(), Ok(()));
    offers_its_rate(expected, rows);
    begins_and_ends_around_the_server(&report, &truth);
}

fn with(report: &ToolReport, is_meant: impl Fn(Outcome) -> bool) -> u64 {
    report.requests.iter().filter(|request| is_meant(request.outcome)).count() as u64
}

fn offers_its_rate(expected: &Expected, rows: u64) {
    let due = RATE * DURATION.as_secs_f64();
    if let Some((least, most)) = expected.open {
        assert!((least * due..=most * due).contains(&(rows as f64)), "{} makes {rows} of {due}", expected.name);
    }
}

/// Compares sorted times, so that requests need not be matched. If each begins before its own arrival, the n-th begins
/// before the n-th arrival. Requests that the tool does not mention shift the index.
pub(crate) fn begins_and_ends_around_the_server(report: &ToolReport, truth: &ServerTruth) {
    let begin = truth.clock_starts_unix_ns.last().expect("a clock that was started");
    let arrivals = sorted(truth.rows.iter().map(|row| begin + row.arrived_ns));
    let due = sorted(truth.rows.iter().filter_map(|row| Some(begin + row.due_ns?)));
    let start_of = |request: &truetail_tools::ReportedRequest| request.start_ns.expect("a stamp");
    let starts = sorted(report.requests.iter().map(start_of));
    let ends = sorted(report.requests.iter().map(|request| start_of(request) + request.latency.0));
    let unmentioned = arrivals.len() - starts.len();
    for (start, arrival) in starts.iter().zip(&arrivals[unmentioned..]) {
        assert!(*start <= arrival + TOLERANCE_NS, "begun {} ns after its arrival", start - arrival);
    }
    for (end, due) in ends.iter().zip(&due) {
        assert!(end + TOLERANCE_NS >= *due, "ended {} ns before its answer was due", due - end);
    }
    assert!(
        starts[0] + NANOS_PER_SECOND >= arrivals[0],
        "the first began {} ns before it arrived",
        arrivals[0] - starts[0]
    );
}

fn sorted(times: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    times
}

/// Tests an address without a server: every reported request was refused.
fn alone(expected: &Expected) {
    let Some(report) = run_alone(expected.name, DURATION) else { return };
    let report = report.expect("a report");
    let refused = |outcome: Outcome| matches!(outcome, Outcome::ConnectFailed(_));
    let rows = report.requests.len() as u64;
    assert!(rows > 0 && with(&report, refused) == rows, "{:?} {:?}", report.claims, report.notes);
    assert_eq!(report.claims.failed, Some(rows));
}

fn is_near(expected: &Expected, what: &str, tool: u64, server: u64) {
    let Expected { name, unmentioned, .. } = *expected;
    assert!(
        tool <= server && server <= tool + unmentioned,
        "{name} counts {tool} {what}, the server {server}; at most {unmentioned} may be missing"
    );
}

macro_rules! tools {
    ($($name:ident: $expected:ident;)*) => {$(
        mod $name {
            #[test]
            #[ignore = "needs other people's load tools: make test-tools"]
            fn its_requests_are_those_that_the_server_saw() {
                super::answered(&super::$expected);
            }

            #[test]
            #[ignore = "needs other people's load tools: make test-tools"]
            fn is_refused_where_nobody_listens() {
                super::alone(&super::$expected);
            }
        }
    )*};
}

tools! {
    vegeta: VEGETA;
    k6_constant_vus: K6_VUS;
    k6_constant_arrival_rate: K6_RATE;
    jmeter_thread_group: JMETER_THREADS;
    jmeter_precise_throughput: JMETER_RATE;
    locust: LOCUST;
    gatling: GATLING;
}

mod fortio {
    use super::{DURATION, FORTIO, answered, run_alone, with};

    #[test]
    #[ignore = "needs other people's load tools: make test-tools"]
    fn its_requests_are_those_that_the_server_saw() {
        answered(&FORTIO);
    }

    /// It says -1 for every failure, whatever the cause.
    #[test]
    #[ignore = "needs other people's load tools: make test-tools"]
    fn fails_where_nobody_listens() {
        let Some(report) = run_alone(FORTIO.name, DURATION) else { return };
        let report = report.expect("a report");
        let rows = report.requests.len() as u64;
        assert!(rows > 0 && with(&report, |outcome| outcome.is_response()) == 0, "{:?}", report.claims);
        assert_eq!(report.claims.failed, Some(rows));
    }
}
