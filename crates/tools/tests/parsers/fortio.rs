//! fortio's access log: details of requests and calls, which are strings of Go.

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Nanos;
use truetail_tools::FailureClassifier;
use truetail_tools::files::fortio_log_line;

fn line(details: &str) -> String {
    format!(
        "{{\"latency\":0.010446,\"timestamp\":1795157964935123930,\"thread\":4,\"iter\":0,\"ok\":false,\"details\":\"{details}\"}}"
    )
}

#[test]
fn details_say_the_outcome_over_http_and_grpc() {
    let mut failures = FailureClassifier::default();
    for (details, expected) in [
        ("200", Outcome::response(200)),
        ("503", Outcome::response(503)),
        ("SERVING", Outcome::response(200)),
        ("NOT_SERVING", Outcome::response(200)),
        ("rpc error: code = Unavailable desc = ", Outcome::response(1014)),
        ("rpc error: code = NotFound desc = no \\\"a\\\" \\x00\\a", Outcome::response(1005)),
        ("rpc error: code = Code(42) desc = x", Outcome::response(1002)),
        (
            "rpc error: code = Unavailable desc = connection error: desc = \\\"transport: Error while dialing: dial tcp \
             127.0.0.1:1: connect: connection refused\\\"",
            Outcome::ConnectFailed(Cause::Refused),
        ),
        (
            "rpc error: code = Unavailable desc = error reading from server: EOF",
            Outcome::Reset(Cause::ClosedBeforeAnswer),
        ),
    ] {
        let call = fortio_log_line(&line(details), &mut failures).unwrap_or_else(|error| panic!("{details}: {error}"));
        assert_eq!((call.request.outcome, call.thread, call.ok), (expected, 4, false), "{details}");
        assert_eq!(call.request.start_ns, Some(1_795_157_964_935_123_930));
        assert_eq!(call.request.latency, Nanos(10_446_000));
    }
    assert!(failures.notes().is_empty());
    let mut failures = FailureClassifier::default();
    let unknown = fortio_log_line(&line("-1"), &mut failures).expect("a line");
    assert!(!unknown.request.outcome.is_response() && failures.notes()[0].contains("'-1'"));
}

#[test]
fn a_line_that_is_none_says_why() {
    let mut failures = FailureClassifier::default();
    for (text, why) in [
        ("", "no details at the end of ''"),
        (&line("200")[..90], "no details at the end of '{\"latency\""),
        (&line("200").replace("0.010446", "-1"), "a latency of -1 s"),
        (&line("200").replace("0.010446", "x"), "expected value"),
        (&line("200").replace("\"thread\":4,", ""), "missing field `thread`"),
    ] {
        let error = fortio_log_line(text, &mut failures).expect_err(text);
        assert!(error.starts_with(why), "{text}: {error}");
    }
}
