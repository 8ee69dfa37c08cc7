//! What tools say of a request that got no answer.

use truetail_model::record::{Cause, Outcome};

use crate::output_reader::shortened;

/// Pieces of messages, as Go, Java and Python print what their libraries and the system report. The first that is found
/// decides: a refused connection is often told of together with other words.
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

/// What became of requests that failed, and how many failed in a way that is not known.
#[derive(Default, Debug)]
pub(crate) struct FailureClassifier {
    unknown: u64,
    first: String,
}

impl FailureClassifier {
    /// By the message that the tool has of it. One that is not known counts as closed before an answer, and there will be
    /// a note.
    pub fn classify(&mut self, message: &str) -> Outcome {
        let small = message.to_ascii_lowercase();
        let known = MESSAGES.iter().find(|(piece, _)| small.contains(piece));
        known.map_or_else(|| self.unknown(message), |(_, outcome)| *outcome)
    }

    /// One that is not known.
    pub fn unknown(&mut self, message: &str) -> Outcome {
        if self.unknown == 0 {
            self.first = shortened(message);
        }
        self.unknown += 1;
        Outcome::Reset(Cause::ClosedBeforeAnswer)
    }

    /// The note, where there is one.
    pub fn notes(self) -> Vec<String> {
        let FailureClassifier { unknown, first } = self;
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
