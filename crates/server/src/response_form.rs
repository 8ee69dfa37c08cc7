//! The form of an answer.

/// The form of an answer, as determined by its request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseForm {
    pub(crate) is_head: bool,
    pub(crate) keep_alive: bool,
    pub(crate) framing: Framing,
}

/// Framing of a body of unknown length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Framing {
    Chunks,
    /// The connection ends with the body: HTTP/1.0.
    Connection,
    /// The last frame ends the body: HTTP/2.
    #[cfg(feature = "http2")]
    Frames,
}

impl ResponseForm {
    /// Form of an answer that is not one of HTTP: its bytes are sent as they are, and the connection stays open.
    pub(crate) const OF_MESSAGE: ResponseForm =
        ResponseForm { is_head: false, keep_alive: true, framing: Framing::Connection };
    /// Form of a whole answer after which the connection is closed.
    pub(crate) const LAST: ResponseForm =
        ResponseForm { is_head: false, keep_alive: false, framing: Framing::Connection };
}
