//! Connections of sessions that have their own.

use truetail_model::time::Timestamp;

use super::{Connections, Placement, Requester, has_room};
use crate::connection::{Connection, Phase, Token};
use crate::protocol::{Conversation, Protocol};

/// The connection of each session to each origin, by user, and the connections whose sessions are over.
#[derive(Debug)]
pub(crate) struct PerSession {
    origins: usize,
    /// A user's connections are adjacent, in the order of the origins.
    by_user: Vec<Option<Token>>,
    left: Vec<Token>,
}

impl PerSession {
    fn place(&self, request: Requester) -> usize {
        request.user as usize * self.origins + request.origin as usize
    }

    fn own(&self, request: Requester) -> Option<Token> {
        self.by_user.get(self.place(request)).copied().flatten()
    }
}

impl<P: Protocol> Placement<P> for PerSession {
    /// Creates the placement. The driver's cap limits connections.
    fn new(origins: usize, _: u64) -> PerSession {
        PerSession { origins, by_user: Vec::new(), left: Vec::new() }
    }

    /// Returns the user's own connection to the origin, if it can take a request.
    fn choose(&mut self, pool: &mut Connections<P>, request: Requester, _: Timestamp) -> Option<u32> {
        let token = self.own(request)?;
        pool.find(token)?;
        has_room::<P>(pool, token.slot()).then_some(token.slot())
    }

    fn is_per_session(&self) -> bool {
        true
    }

    fn has_lost(&self, pool: &mut Connections<P>, request: Requester) -> bool {
        let is_usable = |connection: &mut Connection<P::Conversation>| {
            connection.phase == Phase::Open && !connection.conversation.is_closing()
        };
        self.own(request).is_some_and(|token| !pool.find(token).is_some_and(is_usable))
    }

    /// Assigns a new connection to its user. The previous connection, if any, is left.
    fn add(&mut self, connection: Token, request: Requester) {
        let place = self.place(request);
        if place >= self.by_user.len() {
            self.by_user.resize((request.user as usize + 1) * self.origins, None);
        }
        self.left.extend(self.by_user[place].replace(connection));
    }

    fn release(&mut self, _: &mut Connections<P>, _: u32) -> bool {
        true
    }

    fn end_session(&mut self, user: u32) {
        let first = user as usize * self.origins;
        let connections = self.by_user.get_mut(first..first + self.origins).unwrap_or_default();
        self.left.extend(connections.iter_mut().filter_map(Option::take));
    }

    fn take_left(&mut self) -> Option<Token> {
        self.left.pop()
    }
}
