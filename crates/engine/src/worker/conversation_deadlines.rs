//! Deadlines that conversations set themselves, such as the next ping.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use truetail_model::time::Timestamp;

use crate::connection::Token;

/// Noted deadlines, earliest first. A connection has at most one that counts: `Connection::noted_deadline`. A deadline
/// that moved to a later instant keeps its earlier note, and the connection is asked again then. The list therefore
/// grows only when a deadline moves to an earlier instant.
#[derive(Default, Debug)]
pub(super) struct ConversationDeadlines {
    notes: BinaryHeap<Reverse<(Timestamp, Token)>>,
}

impl ConversationDeadlines {
    pub(super) fn push(&mut self, deadline: Timestamp, connection: Token) {
        self.notes.push(Reverse((deadline, connection)));
    }

    /// Returns the earliest noted deadline; [`Timestamp::NEVER`] without one.
    #[inline]
    pub(super) fn first(&self) -> Timestamp {
        self.notes.peek().map_or(Timestamp::NEVER, |note| note.0.0)
    }

    /// Takes the earliest note if its deadline is `now` or earlier.
    pub(super) fn pop_until(&mut self, now: Timestamp) -> Option<(Timestamp, Token)> {
        if self.first() > now {
            return None;
        }
        self.notes.pop().map(|note| note.0)
    }
}
