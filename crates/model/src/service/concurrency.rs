//! The concurrency cap of a service.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::Timestamp;

/// Memory is reserved for this many slots, so that a cap of usual size never allocates in a run.
const RESERVED_SLOTS: u32 = 1 << 10;

/// Slots of a service, with the times when they become free. Memory grows with the slots in use, not with the cap.
#[derive(Clone, Debug)]
pub(super) struct ConcurrencyLimit {
    /// Slots that no request has needed yet.
    unused: u32,
    /// Times when the other slots become free.
    free_at: BinaryHeap<Reverse<Timestamp>>,
}

impl ConcurrencyLimit {
    /// Creates `cap` slots, at least one.
    pub(super) fn new(cap: u32) -> ConcurrencyLimit {
        ConcurrencyLimit { unused: cap.max(1), free_at: BinaryHeap::with_capacity(cap.min(RESERVED_SLOTS) as usize) }
    }

    /// Takes a slot for a request that could begin at `ready`, and returns when it begins. `ready` must not be before
    /// that of the last call. Call [`ConcurrencyLimit::release_at`] next.
    pub(super) fn acquire(&mut self, ready: Timestamp) -> Timestamp {
        let next_free = self.free_at.peek().map_or(Timestamp::NEVER, |Reverse(free_at)| *free_at);
        if next_free > ready && self.unused > 0 {
            self.unused -= 1;
            return ready;
        }
        self.free_at.pop();
        next_free.max(ready)
    }

    /// Frees the slot that was taken last, from `instant` on.
    pub(super) fn release_at(&mut self, instant: Timestamp) {
        self.free_at.push(Reverse(instant));
    }
}
