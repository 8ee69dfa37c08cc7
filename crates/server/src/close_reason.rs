//! The reason that a connection ends.

/// Reason to close a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CloseReason {
    ClientGone,
    /// The connection must be reset.
    Reset,
    /// The server has sent everything that it will send.
    Finished,
}
