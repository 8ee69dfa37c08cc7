//! Endings of streams.

use serde::{Deserialize, Serialize};

/// Ending of a stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamEnding {
    /// See [`complete`](crate::StreamTally::complete).
    Complete,
    /// See [`unfinished`](crate::StreamTally::unfinished).
    Unfinished,
    /// See [`cut`](crate::StreamTally::cut).
    Cut,
    /// See [`idle`](crate::StreamTally::idle).
    Idle,
    /// See [`timed_out`](crate::StreamTally::timed_out).
    TimedOut,
    /// See [`in_flight_at_end`](crate::StreamTally::in_flight_at_end).
    InFlightAtEnd,
    /// See [`not_a_stream`](crate::StreamTally::not_a_stream).
    NotAStream,
    /// See [`failed`](crate::StreamTally::failed).
    Failed,
    /// See [`never_issued`](crate::StreamTally::never_issued).
    NeverIssued,
    /// See [`server_error`](crate::StreamTally::server_error).
    ServerError,
}

impl StreamEnding {
    /// Returns the name in files.
    pub const fn name(self) -> &'static str {
        match self {
            StreamEnding::Complete => "complete",
            StreamEnding::Unfinished => "unfinished",
            StreamEnding::Cut => "cut",
            StreamEnding::Idle => "idle",
            StreamEnding::TimedOut => "timed_out",
            StreamEnding::InFlightAtEnd => "in_flight_at_end",
            StreamEnding::NotAStream => "not_a_stream",
            StreamEnding::Failed => "failed",
            StreamEnding::NeverIssued => "never_issued",
            StreamEnding::ServerError => "server_error",
        }
    }

    /// Returns a description in words.
    pub const fn describe(self) -> &'static str {
        match self {
            StreamEnding::Complete => "complete",
            StreamEnding::Unfinished => "without its end",
            StreamEnding::Cut => "cut",
            StreamEnding::Idle => "idle",
            StreamEnding::TimedOut => "timed out",
            StreamEnding::InFlightAtEnd => "open at the end",
            StreamEnding::NotAStream => "not a stream",
            StreamEnding::Failed => "failed",
            StreamEnding::NeverIssued => "never issued",
            StreamEnding::ServerError => "with an error event",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_the_files() {
        for name in [
            "complete",
            "unfinished",
            "cut",
            "idle",
            "timed_out",
            "in_flight_at_end",
            "not_a_stream",
            "failed",
            "never_issued",
            "server_error",
        ] {
            let ending: StreamEnding = serde_json::from_value(name.into()).unwrap();
            assert_eq!(ending.name(), name);
        }
    }
}
