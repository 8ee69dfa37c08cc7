use std::cmp::Reverse;
use std::collections::BinaryHeap;

use truetail_model::time::Timestamp;

/// The next instant to check each open stream. A piece of a stream changes no deadline, so it costs nothing here. If a
/// check finds that the stream was not idle, it adds the stream again with its new deadline.
#[derive(Default, Debug)]
pub(crate) struct IdleWatch {
    looks: BinaryHeap<Reverse<IdleCheck>>,
}

/// A planned check of one stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct IdleCheck {
    pub(crate) at: Timestamp,
    pub(crate) request: u32,
    /// Distinguishes successive streams that have the same number.
    pub(crate) generation: u32,
}

impl IdleWatch {
    pub(crate) fn add(&mut self, look: IdleCheck) {
        self.looks.push(Reverse(look));
    }

    /// Returns the instant of the first check.
    pub(crate) fn first(&self) -> Timestamp {
        self.looks.peek().map_or(Timestamp::NEVER, |Reverse(look)| look.at)
    }

    /// Takes the first check that is due at `now`.
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<IdleCheck> {
        if self.first() > now { None } else { self.looks.pop().map(|Reverse(look)| look) }
    }
}
