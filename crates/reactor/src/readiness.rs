//! What a wait reports, and the tokens that it keeps to itself.

/// What happened to the source that was added under `token`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Readiness {
    /// As given to [`Reactor::add`](crate::Reactor::add).
    pub token: u64,
    /// There may be something to read: bytes, an end or an error.
    pub readable: bool,
    /// There may be room to write, or connecting has ended.
    pub writable: bool,
    /// The peer may have closed its sending side, so that a short read does not mean that everything was read.
    pub may_have_ended: bool,
}

/// The highest token that a source may have.
pub const MAX_TOKEN: u64 = TIMER - 1;
/// The token of [`Waker::wake`](crate::Waker::wake).
pub(crate) const WAKE: u64 = u64::MAX;
/// The token of the timer of [`Reactor::wait_until`](crate::Reactor::wait_until).
pub(crate) const TIMER: u64 = WAKE - 1;
