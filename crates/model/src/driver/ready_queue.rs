//! Users or sessions, ordered by their next request.

use std::collections::VecDeque;

use crate::time::Timestamp;

/// Users or sessions with their due times: earliest first, and by number at equal times. Answers come nearly in this
/// order, so a queue with rare insertions in the middle is cheaper than a heap.
#[derive(Clone, Default, Debug)]
pub(super) struct ReadyQueue<N>(VecDeque<(Timestamp, N)>);

impl<N: Copy + Ord> ReadyQueue<N> {
    /// Creates a queue of users with their due times, in any order.
    pub(super) fn new(mut due: Vec<(Timestamp, N)>) -> ReadyQueue<N> {
        due.sort_unstable();
        ReadyQueue(due.into())
    }

    /// Makes room for `users`, so that the queue allocates nothing until it has more.
    pub(super) fn make_room_for(&mut self, users: usize) {
        self.0.reserve_exact(users.saturating_sub(self.0.len()));
    }

    #[inline]
    pub(super) fn push(&mut self, at: Timestamp, user: N) {
        if self.0.back().is_none_or(|last| *last <= (at, user)) {
            return self.0.push_back((at, user));
        }
        let place = self.0.partition_point(|before| *before <= (at, user));
        self.0.insert(place, (at, user));
    }

    /// Returns the due time of the first user.
    #[inline]
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.0.front().map(|(at, _)| *at)
    }

    /// Returns the first user, with the due time.
    #[inline]
    pub(super) fn head(&self) -> Option<(Timestamp, N)> {
        self.0.front().copied()
    }

    pub(super) fn next(&self) -> Option<N> {
        self.0.front().map(|(_, user)| *user)
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<N> {
        self.0.pop_front().map(|(_, user)| user)
    }
}

#[cfg(test)]
impl<N: Copy> ReadyQueue<N> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Timestamp, N)> {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_earliest_due_comes_first(steps in proptest::collection::vec((0u64..9, any::<bool>()), 0..99)) {
            let mut model = vec![(Timestamp(0), 0), (Timestamp(0), 1), (Timestamp(0), 2)];
            let mut due = ReadyQueue::new(model.iter().copied().rev().collect());
            for (user, (at, push)) in (3u32..).zip(steps) {
                if push {
                    due.push(Timestamp(at), user);
                    model.push((Timestamp(at), user));
                    model.sort();
                } else {
                    prop_assert_eq!(due.pop(), (!model.is_empty()).then(|| model.remove(0).1));
                }
                prop_assert_eq!(due.first(), model.first().map(|(at, _)| *at));
            }
        }
    }
}
