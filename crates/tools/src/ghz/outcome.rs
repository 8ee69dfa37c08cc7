//! Outcomes of calls, by the name that grpc-go gives a status and by the text of the error.

use truetail_model::record::{GrpcStatus, Outcome};

use crate::failure_classifier::FailureClassifier;

/// Texts of errors that end a call because ghz closes its connections (`-z` without `--duration-stop wait`).
const CUT_OFF: [&str; 2] = ["use of closed network connection", "the client connection is closing"];
/// Texts of errors of grpc-go itself: no connection, or a lost one. The server sent all other statuses.
const WITHOUT_ANSWER: [&str; 3] =
    ["desc = connection error:", "desc = error reading from server", "desc = transport is closing"];

/// Returns the outcome of a call. A status of the server is recorded with the number of gRPC's calls.
pub(super) fn outcome(status: &str, error: &str, failures: &mut FailureClassifier) -> Outcome {
    let says = |texts: &[&str]| texts.iter().any(|text| error.contains(text));
    match (status, named(status)) {
        ("DeadlineExceeded", _) => Outcome::TimedOut,
        ("Unavailable" | "Canceled", _) if says(&CUT_OFF) => Outcome::InFlightAtEnd,
        ("Unavailable", _) if says(&WITHOUT_ANSWER) => failures.classify(error),
        (_, Some(status)) => Outcome::response(status.recorded()),
        (_, None) => failures.classify(if error.is_empty() { status } else { error }),
    }
}

/// Returns the status with this name of grpc-go, such as `NotFound` or `Code(42)`.
fn named(name: &str) -> Option<GrpcStatus> {
    if name == "Canceled" {
        return GrpcStatus::from_name("CANCELLED");
    }
    if let Some(code) = name.strip_prefix("Code(").and_then(|rest| rest.strip_suffix(')')) {
        return code.parse().ok().map(GrpcStatus::from_code);
    }
    if name == "OK" {
        return Some(GrpcStatus::OK);
    }
    let mut text = String::with_capacity(name.len() + 4);
    for (at, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    GrpcStatus::from_name(&text).filter(|status| *status != GrpcStatus::OK)
}
