//! When streams that stand still are given up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use truetail_model::time::Timestamp;

/// For each open stream the next instant at which it is worth a look. What comes meanwhile changes nothing here: a stream
/// that was not idle is put back with its new deadline. So a piece of a stream costs nothing.
#[derive(Default, Debug)]
pub(crate) struct IdleWatch {
    looks: BinaryHeap<Reverse<Look>>,
}

/// A look at one stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Look {
    pub(crate) at: Timestamp,
    pub(crate) request: u32,
    /// Tells apart the streams that had the same number one after the other.
    pub(crate) generation: u32,
}

impl IdleWatch {
    /// A look is due at its instant.
    pub(crate) fn add(&mut self, look: Look) {
        self.looks.push(Reverse(look));
    }

    /// When the first look is due.
    pub(crate) fn first(&self) -> Timestamp {
        self.looks.peek().map_or(Timestamp::NEVER, |Reverse(look)| look.at)
    }

    /// Takes out the first look that is due at `now`.
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<Look> {
        if self.first() > now { None } else { self.looks.pop().map(|Reverse(look)| look) }
    }
}
