//! Placement: which connection takes a request, and which may be opened for it. A worker has one placement, as a type.
//!
//! | type | a request goes to |
//! |---|---|
//! | [`OneEach`] | an idle connection, which it has for itself until it ends |
//! | [`SharedOut`] | the next in turn of the connections that all requests share |
//! | [`PerSession`] | the connection of its session |

mod one_each;
mod per_session;
mod shared_out;

use std::fmt::Debug;

use truetail_model::time::Timestamp;

use crate::connection::{Connection, Phase, Pool, Token};
use crate::protocol::{Conversation, Protocol};
pub(crate) use one_each::OneEach;
pub(crate) use per_session::PerSession;
pub(crate) use shared_out::SharedOut;

/// The connections of a worker, whatever their placement.
pub(crate) type Connections<P> = Pool<Connection<<P as Protocol>::Conversation>>;

/// The user of a request, and the origin that it is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Requester {
    pub(crate) user: u32,
    pub(crate) origin: u32,
}

/// Placement of requests on connections.
pub(crate) trait Placement<P: Protocol>: Debug + Sized {
    /// Creates the placement for this number of origins. `limit` is the maximum number of connections to all origins
    /// together, or to each origin if requests share connections.
    fn new(origins: usize, limit: u64) -> Self;

    /// Returns the open connection for a request at `now`. `None`: open one, or wait.
    fn choose(&mut self, pool: &mut Connections<P>, request: Requester, now: Timestamp) -> Option<u32>;

    /// Returns the open connection for a request whose own was lost before it was sent.
    fn choose_again(&mut self, pool: &mut Connections<P>, request: Requester, now: Timestamp) -> Option<u32> {
        self.choose(pool, request, now)
    }

    /// Returns true if sessions do not share connections.
    fn is_per_session(&self) -> bool {
        false
    }

    /// Returns true if the session of this request had its connection to the origin, and has lost it.
    fn has_lost(&self, pool: &mut Connections<P>, request: Requester) -> bool {
        let _ = (pool, request);
        false
    }

    /// Returns true if another connection to this origin may be opened.
    fn may_open(&self, origin: u32) -> bool {
        let _ = origin;
        true
    }

    /// Returns an idle connection that must be closed before another one is opened, because the limit is reached.
    fn spare(&self, pool: &Connections<P>) -> Option<u32> {
        let _ = pool;
        None
    }

    /// Records that a connection is being opened for a request.
    fn add(&mut self, connection: Token, request: Requester);

    /// Records that connections to this origin cannot be opened: until this instant, open ones are preferred.
    fn rest(&mut self, origin: u32, until: Timestamp) {
        let _ = (origin, until);
    }

    /// Records that a connection to this origin takes no more requests.
    fn retire(&mut self, slot: u32, origin: u32) {
        let _ = (slot, origin);
    }

    /// Records that a connection has no request in flight, and may take another. Returns true if nothing else changes
    /// with it.
    fn release(&mut self, pool: &mut Connections<P>, slot: u32) -> bool;

    /// Returns true if requests that begin together are sent together, because they share connections.
    fn sends_together(&self) -> bool {
        false
    }

    /// Returns how many requests may be in flight at once, if the connections decide this. `waiting` requests have no
    /// connection.
    fn capacity(&self, pool: &Connections<P>, waiting: u64) -> Option<u64> {
        let _ = (pool, waiting);
        None
    }

    /// Returns true if some origin has no idle connection and an answer may free one.
    fn one_may_become_idle(&self, pool: &Connections<P>) -> bool {
        let _ = pool;
        false
    }

    /// Records that the session of this user is over.
    fn end_session(&mut self, user: u32) {
        let _ = user;
    }

    /// Takes a connection that no session has any more.
    fn take_left(&mut self) -> Option<Token> {
        None
    }
}

/// Returns true if the connection in this slot can take a request.
fn has_room<P: Protocol>(pool: &mut Connections<P>, slot: u32) -> bool {
    pool.at(slot).is_some_and(|connection| connection.phase == Phase::Open && connection.conversation.has_room())
}
