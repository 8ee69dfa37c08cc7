//! The connections of sessions that have their own.

use crate::connection::Token;

/// The connection of each session to each origin, by user, and the connections whose sessions are over.
#[derive(Debug)]
pub(super) struct SessionConnections {
    origins: usize,
    /// A user's connections are adjacent, in the order of the origins.
    of_users: Vec<Option<Token>>,
    left: Vec<Token>,
}

impl SessionConnections {
    pub(super) fn new(origins: usize) -> SessionConnections {
        SessionConnections { origins, of_users: Vec::new(), left: Vec::new() }
    }

    /// Returns the connection of this user to this origin, which may have been lost.
    pub(super) fn get(&self, user: u32, origin: u32) -> Option<Token> {
        self.of_users.get(self.place(user, origin)).copied().flatten()
    }

    /// Assigns a new connection to this user and origin. The previous connection, if any, is left.
    pub(super) fn assign(&mut self, user: u32, origin: u32, connection: Token) {
        let place = self.place(user, origin);
        if place >= self.of_users.len() {
            self.of_users.resize(self.place(user + 1, 0), None);
        }
        self.left.extend(self.of_users[place].replace(connection));
    }

    pub(super) fn end_session(&mut self, user: u32) {
        let first = self.place(user, 0);
        let connections = self.of_users.get_mut(first..first + self.origins).unwrap_or_default();
        self.left.extend(connections.iter_mut().filter_map(Option::take));
    }

    fn place(&self, user: u32, origin: u32) -> usize {
        user as usize * self.origins + origin as usize
    }

    /// Takes a connection that no session has any more.
    pub(super) fn take_left(&mut self) -> Option<Token> {
        self.left.pop()
    }
}
