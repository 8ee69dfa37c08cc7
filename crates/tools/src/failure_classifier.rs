//! Maps error messages of tools to outcomes.

use truetail_model::record::{Cause, Outcome};

use crate::output_reader::shortened;

/// Parts of messages in lower case, as Go, Java and Python print errors of their libraries and of the system. The first
/// match decides, because the message of a refused connection often contains other entries too.
const MESSAGES: [(&str, Outcome); 18] = [
    ("refused", Outcome::ConnectFailed(Cause::Refused)),
    ("unreachable", Outcome::ConnectFailed(Cause::Unreachable)),
    ("no route to host", Outcome::ConnectFailed(Cause::Unreachable)),
    ("assign requested address", Outcome::ConnectFailed(Cause::NoLocalPort)),
    ("too many open files", Outcome::ConnectFailed(Cause::NoFileDescriptor)),
    ("no such host", Outcome::ConnectFailed(Cause::ConnectOther)),
    ("unknownhost", Outcome::ConnectFailed(Cause::ConnectOther)),
    ("name or service not known", Outcome::ConnectFailed(Cause::ConnectOther)),
    ("x509", Outcome::ConnectFailed(Cause::Tls)),
    ("ssl", Outcome::ConnectFailed(Cause::Tls)),
    ("timed out", Outcome::TimedOut),
    ("timeout", Outcome::TimedOut),
    ("deadline exceeded", Outcome::TimedOut),
    ("connection reset", Outcome::Reset(Cause::ResetByPeer)),
    ("eof", Outcome::Reset(Cause::ClosedBeforeAnswer)),
    ("premature close", Outcome::Reset(Cause::ClosedBeforeAnswer)),
    ("nohttpresponse", Outcome::Reset(Cause::ClosedBeforeAnswer)),
    ("remotedisconnected", Outcome::Reset(Cause::ClosedBeforeAnswer)),
];

/// Classifies failed requests by their messages, and counts unknown messages.
#[derive(Default, Debug)]
pub struct FailureClassifier {
    unknown: u64,
    first: String,
    /// The message in lower case; kept so that a message costs no allocation.
    lower_case: String,
}

impl FailureClassifier {
    /// Returns the outcome for a message. An unknown message counts as closed before an answer, and leads to a note.
    pub fn classify(&mut self, message: &str) -> Outcome {
        self.lower_case.clear();
        self.lower_case.push_str(message);
        self.lower_case.make_ascii_lowercase();
        let known = MESSAGES.iter().find(|(piece, _)| self.lower_case.contains(piece));
        known.map_or_else(|| self.unknown(message), |(_, outcome)| *outcome)
    }

    /// Counts an unknown failure.
    pub fn unknown(&mut self, message: &str) -> Outcome {
        if self.unknown == 0 {
            self.first = shortened(message);
        }
        self.unknown += 1;
        Outcome::Reset(Cause::ClosedBeforeAnswer)
    }

    /// Returns a note about unknown failures, if any.
    pub fn notes(self) -> Vec<String> {
        let FailureClassifier { unknown, first, .. } = self;
        let note = || {
            format!(
                "{unknown} requests failed in a way that is not known here, the first with '{first}'; they count as closed \
                 before an answer"
            )
        };
        (unknown > 0).then(note).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_as_tools_print_them() {
        let mut failures = FailureClassifier::default();
        for (message, outcome) in [
            ("dial tcp 0.0.0.0:0->127.0.0.1:1: connect: connection refused", Outcome::ConnectFailed(Cause::Refused)),
            ("context deadline exceeded (Client.Timeout exceeded)", Outcome::TimedOut),
            ("read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer", Outcome::Reset(Cause::ResetByPeer)),
            ("Get \"http://127.0.0.1:1/\": EOF", Outcome::Reset(Cause::ClosedBeforeAnswer)),
            ("ConnectionResetError(104, 'Connection reset by peer')", Outcome::Reset(Cause::ResetByPeer)),
        ] {
            assert_eq!(failures.classify(message), outcome, "{message}");
        }
        assert!(failures.notes().is_empty());
    }

    #[test]
    fn what_is_not_known_is_counted_and_noted() {
        let mut failures = FailureClassifier::default();
        failures.classify("the dog ate it");
        failures.classify("a cat");
        assert!(matches!(&failures.notes()[..], [note] if note.starts_with("2 requests") && note.contains("the dog")));
    }
}
