//! Why a connection ends.

/// Why a connection is to be closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CloseReason {
    /// The client ended it.
    ClientGone,
    /// It is to be reset.
    Reset,
    /// The server is done with it.
    Done,
}
