//! The form of an answer.

/// What the request says about the form of its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseForm {
    pub(crate) is_head: bool,
    pub(crate) keep_alive: bool,
    pub(crate) framing: Framing,
}

/// How the end of a body is told whose length is not known beforehand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Framing {
    /// It comes in chunks.
    Chunks,
    /// The connection ends with it: HTTP/1.0.
    Connection,
    /// The last frame says so: HTTP/2.
    #[cfg(feature = "http2")]
    Frames,
}

impl ResponseForm {
    /// That of a whole answer after which the connection is closed.
    pub(crate) const LAST: ResponseForm =
        ResponseForm { is_head: false, keep_alive: false, framing: Framing::Connection };
}
