//! Violations of the protocol that end the whole connection.

use truetail_model::record::Cause;

use crate::protocol::http2::frame::code;

/// The peer broke the rules, so the connection is unusable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ConnectionError {
    pub(super) cause: Cause,
    /// The error code for the peer.
    pub(super) code: u32,
    /// The stream that caused the error; 0: none.
    pub(super) stream: u32,
}

impl ConnectionError {
    pub(super) const fn new(cause: Cause, code: u32) -> ConnectionError {
        ConnectionError { cause, code, stream: 0 }
    }

    pub(super) fn on(self, stream: u32) -> ConnectionError {
        ConnectionError { stream, ..self }
    }
}

pub(super) const PROTOCOL: ConnectionError = ConnectionError::new(Cause::Http2Protocol, code::PROTOCOL_ERROR);
pub(super) const FRAME_SIZE: ConnectionError = ConnectionError::new(Cause::Http2Protocol, code::FRAME_SIZE_ERROR);
pub(super) const CLOSED: ConnectionError = ConnectionError::new(Cause::Http2Protocol, code::STREAM_CLOSED);
pub(super) const WINDOW: ConnectionError = ConnectionError::new(Cause::Http2Window, code::FLOW_CONTROL_ERROR);
pub(super) const TOO_LARGE: ConnectionError = ConnectionError::new(Cause::HeadTooLarge, code::ENHANCE_YOUR_CALM);
pub(super) const COMPRESSION: ConnectionError = ConnectionError::new(Cause::BadHead, code::COMPRESSION_ERROR);
