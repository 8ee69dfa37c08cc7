//! The form of an answer.

/// What the request says about the form of its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseForm {
    pub(crate) is_head: bool,
    pub(crate) keep_alive: bool,
    /// A body of unknown length may come in chunks. Otherwise its end is that of the connection.
    pub(crate) may_chunk: bool,
}

impl ResponseForm {
    /// That of a whole answer after which the connection is closed.
    pub(crate) const LAST: ResponseForm = ResponseForm { is_head: false, keep_alive: false, may_chunk: false };
}
