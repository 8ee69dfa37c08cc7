//! Outcomes of calls that a client built with grpc-go made: by their status, and by the text of the error.

use truetail_model::record::{GrpcStatus, Outcome};

use crate::failure_classifier::FailureClassifier;

/// Texts of errors that end a call because the client closes its connections.
const CUT_OFF: [&str; 2] = ["use of closed network connection", "the client connection is closing"];
/// Starts of the texts of errors of grpc-go: no connection, or a lost one. The server sent all other statuses.
const WITHOUT_ANSWER: [&str; 3] = ["connection error:", "error reading from server", "transport is closing"];

/// Returns the outcome of a call with this status and the text of its error; an empty one if it succeeded. A status of
/// the server is recorded with the number of gRPC's calls.
pub(crate) fn outcome(status: GrpcStatus, text: &str, failures: &mut FailureClassifier) -> Outcome {
    match status.name() {
        "DEADLINE_EXCEEDED" => Outcome::TimedOut,
        "UNAVAILABLE" | "CANCELLED" if CUT_OFF.iter().any(|cut_off| text.contains(cut_off)) => Outcome::InFlightAtEnd,
        "UNAVAILABLE" if WITHOUT_ANSWER.iter().any(|start| text.starts_with(start)) => failures.classify(text),
        _ => Outcome::response(status.recorded()),
    }
}

/// Returns the outcome of a call by the name that grpc-go gives its status, and its error as grpc-go prints it:
/// `rpc error: code = Unavailable desc = no room`.
pub(crate) fn outcome_of_name(name: &str, error: &str, failures: &mut FailureClassifier) -> Outcome {
    let text = error.split_once("desc = ").map_or(error, |(_, text)| text);
    match named(name) {
        Some(status) => outcome(status, text, failures),
        None => failures.classify(if error.is_empty() { name } else { error }),
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
