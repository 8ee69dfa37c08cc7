//! Events that a wait reports, and the tokens that are reserved for the reactor.

/// Event of the source that was added under `token`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Readiness {
    /// The token that was given to [`Reactor::add`](crate::Reactor::add).
    pub token: u64,
    /// Something may be ready to read: bytes, an end or an error.
    pub readable: bool,
    /// The source may have room to write, or has finished connecting.
    pub writable: bool,
    /// The peer may have closed its sending side, so a short read does not mean that everything was read.
    pub may_have_ended: bool,
}

/// The highest token that a source may have.
pub const MAX_TOKEN: u64 = TIMER - 1;
/// Token of [`Waker::wake`](crate::Waker::wake).
pub(crate) const WAKE: u64 = u64::MAX;
/// Token of the timer of [`Reactor::wait_until`](crate::Reactor::wait_until).
pub(crate) const TIMER: u64 = WAKE - 1;
