//! Reasons why a connection has no request.

use std::io;

/// Refusal of a body beyond the limit.
pub(super) const TOO_LONG: NoRequest = NoRequest::Refused(413, "the body is too long");

/// Reason why there is no request.
#[derive(Debug)]
pub(super) enum NoRequest {
    /// The client has gone, or sent nothing in time. No response is possible.
    Gone,
    /// The request is refused with this status and sentence.
    Refused(u16, &'static str),
}

impl From<io::Error> for NoRequest {
    fn from(_: io::Error) -> NoRequest {
        NoRequest::Gone
    }
}
