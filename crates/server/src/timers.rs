//! Timers of connections.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use truetail_model::time::Timestamp;

/// Due times of connections, in nanoseconds. Equal times keep the order of their addition, so that answers that were
/// held together leave in the order of their requests.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Timestamp, u64, u64)>>,
    added: u64,
}

impl Timers {
    /// Adds a timer for connection `token`. [`Timestamp::NEVER`] is ignored. A timer cannot be cancelled.
    pub(crate) fn add(&mut self, at: Timestamp, token: u64) {
        if at != Timestamp::NEVER {
            self.heap.push(Reverse((at, self.added, token)));
            self.added += 1;
        }
    }

    /// Returns the time of the next timer.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Removes and returns the next connection that is due at `now`.
    pub(crate) fn pop_due(&mut self, now: Timestamp) -> Option<u64> {
        self.next().filter(|at| *at <= now)?;
        self.heap.pop().map(|Reverse((_, _, token))| token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_of_time_then_of_adding() {
        let mut timers = Timers::default();
        for (at, token) in [(7, 1), (5, 2), (7, 3), (5, 4), (u64::MAX, 5), (7, 0)] {
            timers.add(Timestamp(at), token);
        }
        assert_eq!(timers.pop_due(Timestamp(4)), None);
        let mut due = |now| std::iter::from_fn(|| timers.pop_due(Timestamp(now))).collect::<Vec<_>>();
        assert_eq!(due(6), [2, 4]);
        assert_eq!(due(u64::MAX), [1, 3, 0]);
    }
}
