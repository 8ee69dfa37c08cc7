//! The connections of sessions that have one each.

use crate::connection::Token;

/// Which connection each session has, by the user who stands for it, and the connections whose sessions are over.
#[derive(Debug, Default)]
pub(super) struct SessionConnections {
    of_user: Vec<Option<Token>>,
    left: Vec<Token>,
}

impl SessionConnections {
    /// The connection of this user, which may have been lost.
    pub(super) fn of(&self, user: u32) -> Option<Token> {
        self.of_user.get(user as usize).copied().flatten()
    }

    /// This user has a new connection. One that the user had before is left.
    pub(super) fn give(&mut self, user: u32, connection: Token) {
        self.leave(user);
        let place = user as usize;
        if place >= self.of_user.len() {
            self.of_user.resize(place + 1, None);
        }
        self.of_user[place] = Some(connection);
    }

    /// The session of this user is over.
    pub(super) fn leave(&mut self, user: u32) {
        let connection = self.of_user.get_mut(user as usize).and_then(Option::take);
        self.left.extend(connection);
    }

    /// A connection that nobody has any more, once.
    pub(super) fn take_left(&mut self) -> Option<Token> {
        self.left.pop()
    }
}
