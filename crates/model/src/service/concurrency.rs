//! The places of a service that works on so many requests at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::Timestamp;

/// Room for this many places is made beforehand, so that a cap of usual size never allocates in a run.
const ROOM: u32 = 1 << 10;

/// Who is being worked on until when. Memory grows with the places in use, not with the cap.
#[derive(Clone, Debug)]
pub(super) struct ConcurrencyLimit {
    /// ConcurrencyLimit nobody has needed so far.
    unused: u32,
    /// When each of the others is free again.
    free_at: BinaryHeap<Reverse<Timestamp>>,
}

impl ConcurrencyLimit {
    /// `cap` places, at least one.
    pub(super) fn new(cap: u32) -> ConcurrencyLimit {
        ConcurrencyLimit { unused: cap.max(1), free_at: BinaryHeap::with_capacity(cap.min(ROOM) as usize) }
    }

    /// Takes a place for a request that could begin at `ready`, and says when it begins. [`ConcurrencyLimit::release_at`] must
    /// follow. Requests come in the order of `ready`, so this queue is first in, first out.
    pub(super) fn acquire(&mut self, ready: Timestamp) -> Timestamp {
        let next_free = self.free_at.peek().map_or(Timestamp::NEVER, |Reverse(free_at)| *free_at);
        if next_free > ready && self.unused > 0 {
            self.unused -= 1;
            return ready;
        }
        self.free_at.pop();
        next_free.max(ready)
    }

    /// The place taken last is free again at `instant`.
    pub(super) fn release_at(&mut self, instant: Timestamp) {
        self.free_at.push(Reverse(instant));
    }
}
