//! k6 over gRPC: calls of which it has no sample, and statuses that say too little.

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Nanos;
use truetail_tools::{ParseError, ToolOutput, ToolReport};

use crate::support::parse;

const HEADER: &str = "metric_name,timestamp,metric_value,error,status,extra_tags,metadata\n";
const END: &str = "1795157763037549531";

/// Parses rows of samples, each as (metric, value, error, status, user).
fn read(rows: &[(&str, &str, &str, &str, u32)]) -> Result<ToolReport, ParseError> {
    let line = |(metric, value, error, status, user): &(&str, &str, &str, &str, u32)| {
        format!("{metric},{END},{value},{error},{status},,vu={user}\n")
    };
    let samples = HEADER.to_owned() + &rows.iter().map(line).collect::<String>();
    let files = [("samples.csv".to_owned(), samples.into_bytes())].into();
    parse("k6-constant-vus", &ToolOutput { files, ..ToolOutput::default() })
}

fn calls(report: &ToolReport) -> Vec<(Outcome, Nanos)> {
    report.requests.iter().map(|request| (request.outcome, request.latency)).collect()
}

/// After its call a virtual user has the text of the error; rows of other users come between.
#[test]
fn a_text_says_whether_the_server_sent_the_status_of_the_same_user() {
    let reset = "\"error reading from server: read tcp 1->2: read: connection reset by peer\"";
    let report = read(&[
        ("grpc_req_duration", "10", "", "14", 1),
        ("grpc_req_duration", "20", "", "14", 2),
        ("truetail_unavailable", "1", "no room", "", 2),
        ("grpc_req_duration", "30", "", "0", 2),
        ("truetail_unavailable", "1", reset, "", 1),
    ])
    .expect("calls");
    let of = |outcome, millis| (outcome, Nanos::from_millis(millis));
    let expected =
        [of(Outcome::Reset(Cause::ResetByPeer), 10), of(Outcome::response(1014), 20), of(Outcome::response(200), 30)];
    assert_eq!((&calls(&report)[..], report.claims.measured), (&expected[..], Some(3)));
    let error = read(&[("truetail_unavailable", "1", "no room", "", 3)]).expect_err("an error of no call").to_string();
    assert!(error.contains("line 2: no call of this user before its error"), "{error}");
}

/// If the server sends DEADLINE_EXCEEDED there is a sample, and the call is not counted twice.
#[test]
fn a_call_that_met_its_deadline_is_counted_once() {
    let report = read(&[
        ("grpc_req_duration", "10", "", "4", 1),
        ("truetail_timed_out", "11", "", "", 1),
        ("truetail_timed_out", "200", "", "", 1),
        ("grpc_req_duration", "12", "", "0", 2),
        ("truetail_timed_out", "201", "", "", 2),
    ])
    .expect("calls");
    let late = |millis| (Outcome::TimedOut, Nanos::from_millis(millis));
    let expected = [late(10), late(200), (Outcome::response(200), Nanos::from_millis(12)), late(201)];
    assert_eq!((&calls(&report)[..], report.claims.measured), (&expected[..], Some(2)));
}

#[test]
fn a_user_that_cannot_connect_has_no_sample() {
    let refused = "\"GoError: connection error: desc = \"\"dial tcp 127.0.0.1:1: connect: connection refused\"\"\"";
    let report = read(&[("truetail_unconnected", "1", refused, "", 1)]).expect("a call");
    assert_eq!(calls(&report), [(Outcome::ConnectFailed(Cause::Refused), Nanos::ZERO)]);
    assert_eq!(report.claims.measured, Some(0));
}
