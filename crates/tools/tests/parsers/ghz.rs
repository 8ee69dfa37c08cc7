//! ghz: names of statuses, texts of errors, and time stamps, which are the ends of calls.

use truetail_model::record::{Cause, GrpcStatus, Outcome};
use truetail_model::time::Nanos;
use truetail_tools::FailureClassifier;
use truetail_tools::files::{ghz_csv_row, ghz_json};

const NAMES: [&str; 17] = [
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

fn outcome(row: &str, failures: &mut FailureClassifier) -> Outcome {
    ghz_csv_row(row, failures).unwrap_or_else(|| panic!("{row}")).outcome
}

/// The names of grpc-go are in the order of their codes. A deadline that has passed is ghz's own timeout.
#[test]
fn each_name_of_a_status_is_known() {
    let mut failures = FailureClassifier::default();
    for (name, status) in NAMES.into_iter().zip(GrpcStatus::all()) {
        let expected = match name {
            "DeadlineExceeded" => Outcome::TimedOut,
            _ => Outcome::response(status.recorded()),
        };
        let error = if name == "OK" { "" } else { "rpc error" };
        assert_eq!(outcome(&format!("1.00,{name},{error}"), &mut failures), expected, "{name}");
    }
    assert_eq!(outcome("1.00,Code(42),rpc error", &mut failures), Outcome::response(1002));
    assert!(failures.notes().is_empty());
    let mut failures = FailureClassifier::default();
    outcome("1.00,,a new error", &mut failures);
    assert!(failures.notes()[0].contains("a new error"));
}

/// The row of an error is not quoted, and may have commas and quotes.
#[test]
fn an_error_of_the_client_is_no_answer() {
    let mut failures = FailureClassifier::default();
    for (text, expected) in [
        ("no room, \"100%\" full", Outcome::response(1014)),
        (
            "connection error: desc = \"transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused\"",
            Outcome::ConnectFailed(Cause::Refused),
        ),
        ("error reading from server: EOF", Outcome::Reset(Cause::ClosedBeforeAnswer)),
        (
            "error reading from server: read tcp 1->2: read: connection reset by peer",
            Outcome::Reset(Cause::ResetByPeer),
        ),
        ("error reading from server: read tcp 1->2: use of closed network connection", Outcome::InFlightAtEnd),
    ] {
        let row = format!("0.42,Unavailable,rpc error: code = Unavailable desc = {text}");
        assert_eq!(outcome(&row, &mut failures), expected, "{text}");
    }
    for none in ["0.42,OK", "x,OK,", "-1,OK,", "", "duration (ms),status,error"] {
        assert!(ghz_csv_row(none, &mut failures).is_none(), "{none}");
    }
    assert!(failures.notes().is_empty());
}

fn result(timestamp: &str) -> String {
    format!(
        "{{\"options\": {{\"rps\": 100, \"concurrency\": 5, \"load-schedule\": \"const\"}}, \"count\": 1, \"average\": 500, \
         \"slowest\": 500, \"rps\": 1.5, \"statusCodeDistribution\": {{\"OK\": 1}}, \"details\": [{{\"timestamp\": \
         \"{timestamp}\", \"latency\": 500, \"error\": \"\", \"status\": \"OK\"}}]}}"
    )
}

#[test]
fn a_call_began_its_latency_before_its_time_stamp() {
    for (timestamp, end_ns) in [
        ("1970-01-01T00:00:01Z", 1_000_000_000),
        ("2026-11-28T12:13:58.812366367Z", 1_795_868_038_812_366_367),
        ("2026-11-28T13:13:58.8+01:00", 1_795_868_038_800_000_000),
        ("2026-11-28T06:43:58-05:30", 1_795_868_038_000_000_000),
    ] {
        let read = ghz_json(result(timestamp).as_bytes()).unwrap_or_else(|error| panic!("{timestamp}: {error}"));
        let [call] = read.report.requests[..] else { panic!("{:?}", read.report.requests) };
        assert_eq!((call.start_ns, call.latency), (Some(end_ns - 500), Nanos(500)), "{timestamp}");
        assert_eq!((read.workers, read.rate_per_second), (Some(5), Some(100.0)));
    }
    for none in ["", "2026-11-28", "2026-02-30T00:00:00Z", "2026-11-28T12:13:58.x1Z", "2026-11-28T12:13", "-é"] {
        let error = ghz_json(result(none).as_bytes()).expect_err(none).to_string();
        assert!(error.contains(&format!("no time in '{none}'")), "{error}");
    }
}

/// A rate that changes is none, and calls that do not wait for answers have no workers.
#[test]
fn the_load_is_what_the_options_say() {
    let text = result("1970-01-01T00:00:01Z");
    let read = |text: &str| ghz_json(text.as_bytes()).expect("a result");
    let open = read(&text.replace("\"rps\": 100", "\"async\": true, \"rps\": 100"));
    assert_eq!((open.workers, open.rate_per_second), (None, Some(100.0)));
    let ramp = read(&text.replace("\"const\"", "\"line\""));
    assert_eq!((ramp.workers, ramp.rate_per_second), (Some(5), None));
    let stepped = read(&text.replace(
        "\"concurrency\": 5",
        "\"concurrency\": 5, \"concurrency-schedule\": \"step\", \"concurrency-start\": 2, \"concurrency-end\": 20",
    ));
    assert_eq!(stepped.workers, Some(20));
    let skipped = read(&text.replace("\"rps\": 100", "\"skipFirst\": 7, \"rps\": 100"));
    assert_eq!(skipped.report.notes, ["ghz left out its first 7 calls (--skipFirst)"]);
}
