//! Outcomes of arrivals.

use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};

/// Lowest status of HTTP that is an error.
const FIRST_ERROR: u16 = 400;

/// Outcome of one planned arrival. Every arrival has exactly one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// A whole answer, with any status.
    Response {
        /// HTTP status; `None` in a protocol without a status. That of a gRPC call is
        /// [`GrpcStatus::recorded`](super::GrpcStatus).
        status: Option<NonZeroU16>,
    },
    /// No connection was established.
    ConnectFailed(Cause),
    /// The connection ended before the first byte of an answer.
    Reset(Cause),
    /// An answer that began and was cut off, or that broke the protocol.
    Malformed(Cause),
    /// No whole answer within the timeout: censored.
    TimedOut,
    /// Neither answered nor timed out when the drain was over: censored.
    InFlightAtEnd,
    /// Planned, and still waiting to be sent when the drain was over: censored.
    NeverIssued,
}

impl Outcome {
    /// A whole answer of a protocol without a status.
    pub const ANSWERED: Outcome = Outcome::Response { status: None };

    /// Returns the outcome of a whole answer with this status. 0 is no status.
    #[inline]
    pub const fn response(status: u16) -> Outcome {
        Outcome::Response { status: NonZeroU16::new(status) }
    }

    /// Returns true if a whole answer came.
    pub const fn is_response(self) -> bool {
        matches!(self, Outcome::Response { .. })
    }

    /// Returns true if no answer came and the time to an answer is unknown. The response time is at least the wait.
    pub const fn is_censored(self) -> bool {
        matches!(self, Outcome::TimedOut | Outcome::InFlightAtEnd | Outcome::NeverIssued)
    }

    /// Returns true if it failed for a known reason: no answer would ever have come.
    pub const fn is_failed(self) -> bool {
        matches!(self, Outcome::ConnectFailed(_) | Outcome::Reset(_) | Outcome::Malformed(_))
    }

    /// Returns the cause of a failure; `None` for other outcomes.
    pub const fn cause(self) -> Option<Cause> {
        match self {
            Outcome::ConnectFailed(cause) | Outcome::Reset(cause) | Outcome::Malformed(cause) => Some(cause),
            Outcome::Response { .. } | Outcome::TimedOut | Outcome::InFlightAtEnd | Outcome::NeverIssued => None,
        }
    }

    /// Returns the status; `None` without an answer, and for an answer without a status.
    #[inline]
    pub const fn status(self) -> Option<u16> {
        match self {
            Outcome::Response { status: Some(status) } => Some(status.get()),
            Outcome::Response { status: None } => None,
            Outcome::ConnectFailed(_) | Outcome::Reset(_) | Outcome::Malformed(_) => None,
            Outcome::TimedOut | Outcome::InFlightAtEnd | Outcome::NeverIssued => None,
        }
    }

    /// Returns true if a whole answer came with an error status.
    #[inline]
    pub const fn has_error_status(self) -> bool {
        matches!(self, Outcome::Response { status: Some(status) } if status.get() >= FIRST_ERROR)
    }

    /// Returns true if a whole answer came without an error status.
    #[inline]
    pub const fn is_success(self) -> bool {
        self.is_response() && !self.has_error_status()
    }

    /// Returns the name in files, in snake case.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Response { .. } => "response",
            Outcome::ConnectFailed(_) => "connect_failed",
            Outcome::Reset(_) => "reset",
            Outcome::Malformed(_) => "malformed",
            Outcome::TimedOut => "timed_out",
            Outcome::InFlightAtEnd => "in_flight_at_end",
            Outcome::NeverIssued => "never_issued",
        }
    }
}

macro_rules! causes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $says:literal;)*) => {
        /// Cause of a failed request.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Cause { $($(#[$doc])* $variant,)* }

        impl Cause {
            /// Every cause.
            pub const ALL: &'static [Cause] = &[$(Cause::$variant,)*];

            /// Returns the name in files, in snake case.
            pub const fn name(self) -> &'static str {
                match self { $(Cause::$variant => $name,)* }
            }

            /// Returns the meaning, in a few words for people.
            pub const fn describe(self) -> &'static str {
                match self { $(Cause::$variant => $says,)* }
            }
        }
    };
}

causes! {
    /// Connecting: nothing listens on the port.
    Refused = "refused", "connection refused";
    /// Connecting: no route to the host or network.
    Unreachable = "unreachable", "host or network unreachable";
    /// Connecting: the generator has no local port left for this destination.
    NoLocalPort = "no_local_port", "no local port left (the generator's limit)";
    /// Connecting: the generator may not open another file.
    NoFileDescriptor = "no_file_descriptor", "no file descriptor left (the generator's limit)";
    /// Connecting: the peer reset during the handshake.
    ResetInHandshake = "reset_in_handshake", "reset while connecting";
    /// Connecting: the TLS handshake failed.
    Tls = "tls", "TLS handshake failed";
    /// Connecting: any other error of the system.
    ConnectOther = "connect_other", "could not connect";
    /// The peer sent a TCP reset.
    ResetByPeer = "reset_by_peer", "connection reset by peer";
    /// The peer closed the connection without a byte of an answer.
    ClosedBeforeAnswer = "closed_before_answer", "connection closed before any answer";
    /// The connection ended inside an answer.
    Truncated = "truncated", "answer cut off";
    /// The head is not HTTP.
    BadHead = "bad_head", "head of the answer is not HTTP";
    /// The head is longer, or has more fields, than this tool accepts.
    HeadTooLarge = "head_too_large", "head of the answer too large";
    /// A length that is not a number, overflows or contradicts another.
    BadLength = "bad_length", "length of the answer is contradictory or no number";
    /// A chunk that breaks the chunked coding.
    BadChunk = "bad_chunk", "broken chunk in the answer";
    /// More interim (1xx) answers than this tool accepts.
    TooManyInterim = "too_many_interim", "too many interim (1xx) answers";
    /// An answer with status 101 that was not asked for.
    UnexpectedUpgrade = "unexpected_upgrade", "unasked switch of protocols";
    /// Bytes after the end of the answer that belong to no request.
    LeftoverBytes = "leftover_bytes", "bytes after the end of the answer";
    /// An answer that had come, on a kept connection, before its request was sent: it answers something else.
    EarlyAnswer = "early_answer", "answer that had come before its request was sent";
    /// After the TLS handshake: an alert from the peer, or a record that cannot be read.
    TlsBroken = "tls_broken", "TLS broken off after its handshake";
    /// HTTP/2: what the server sent is not HTTP/2, or TLS did not agree on it.
    NoHttp2 = "no_http2", "the server does not speak HTTP/2";
    /// HTTP/2: the server reset the stream of this request before it began with it (REFUSED_STREAM).
    StreamRefused = "stream_refused", "request refused by the server (HTTP/2 REFUSED_STREAM)";
    /// HTTP/2: the server reset the stream of this request.
    StreamReset = "stream_reset", "request reset by the server (HTTP/2 RST_STREAM)";
    /// HTTP/2: the server went away before it took up this request.
    GoneAway = "gone_away", "not taken up before the server went away (HTTP/2 GOAWAY)";
    /// HTTP/2: a frame that is not allowed at this point.
    Http2Protocol = "http2_protocol", "the server broke the rules of HTTP/2";
    /// HTTP/2: more data than a window allows, or a window above the maximum.
    Http2Window = "http2_window", "the server broke the flow control of HTTP/2";
    /// gRPC: an answer without a grpc-status.
    NoGrpcStatus = "no_grpc_status", "answer without a grpc-status";
    /// gRPC: a message that breaks its framing, ends early, or was not expected.
    BadGrpcMessage = "bad_grpc_message", "messages of the answer broke the rules of gRPC";
    /// gRPC: the server ended the call on which messages were exchanged.
    CallEnded = "call_ended", "call ended by the server before the reply";
    /// Messages: bytes that break the framing.
    BadMessage = "bad_message", "a message broke the framing of its channel";
    /// Messages: one that is larger, or nested deeper, than this tool accepts.
    MessageTooLarge = "message_too_large", "message too large";
    /// WebSocket: the answer to the handshake is not the switch that was asked for.
    NoWebSocket = "no_web_socket", "the server did not switch to WebSocket";
    /// WebSocket over HTTP/2: the server does not offer other protocols on its streams (RFC 8441).
    NoExtendedConnect = "no_extended_connect", "the server accepts no WebSocket over HTTP/2 (RFC 8441)";
    /// An error reply to the login that opens a channel, or to the choice of a database.
    LoginRefused = "login_refused", "the server refused the login";
    /// A message that the hello of a channel does not expect.
    HelloRefused = "hello_refused", "the server did not answer the hello as expected";
    /// A message that the hello of a channel expects did not come in time.
    HelloTimedOut = "hello_timed_out", "the server did not answer the hello in time";
    /// A callable raised an error.
    Raised = "raised", "the callable raised an exception";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_status_is_a_status() {
        assert_eq!([200, 1014].map(Outcome::response).map(Outcome::status), [Some(200), Some(1014)]);
        assert_eq!((Outcome::response(0), Outcome::ANSWERED.status()), (Outcome::ANSWERED, None));
        assert!(Outcome::ANSWERED.is_response() && Outcome::ANSWERED.is_success());
    }

    #[test]
    fn an_error_status_is_one_from_400_on() {
        let judged = |outcome: Outcome| (outcome.is_success(), outcome.has_error_status());
        for outcome in [Outcome::ANSWERED, Outcome::response(200), Outcome::response(399)] {
            assert_eq!(judged(outcome), (true, false), "{outcome:?}");
        }
        assert_eq!([400, 503, 1014].map(Outcome::response).map(judged), [(false, true); 3]);
        for outcome in [Outcome::Reset(Cause::ResetByPeer), Outcome::TimedOut, Outcome::NeverIssued] {
            assert_eq!(judged(outcome), (false, false), "{outcome:?}");
        }
    }

    /// Every request of a run writes one.
    #[test]
    fn an_outcome_has_four_bytes() {
        assert_eq!(size_of::<Outcome>(), 4);
    }
}
