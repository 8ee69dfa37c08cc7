//! Users in the order in which they are due.

use std::collections::VecDeque;

use crate::time::Timestamp;

/// Users that are due at an instant, earliest first, and of one instant by number.
///
/// They come nearly in this order, since answers do: so it is a queue, into which a straggler is put in its place.
#[derive(Clone, Default, Debug)]
pub(super) struct ReadyQueue(VecDeque<(Timestamp, u32)>);

impl ReadyQueue {
    /// All of these at the origin.
    pub(super) fn at_origin(users: u32) -> ReadyQueue {
        ReadyQueue((0..users).map(|user| (Timestamp::ZERO, user)).collect())
    }

    #[inline]
    pub(super) fn push(&mut self, at: Timestamp, user: u32) {
        if self.0.back().is_none_or(|last| *last <= (at, user)) {
            return self.0.push_back((at, user));
        }
        let place = self.0.partition_point(|before| *before <= (at, user));
        self.0.insert(place, (at, user));
    }

    /// When the first is due.
    #[inline]
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.0.front().map(|(at, _)| *at)
    }

    /// The first.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.0.pop_front().map(|(_, user)| user)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whoever_is_due_first_comes_first(steps in proptest::collection::vec((0u64..9, any::<bool>()), 0..99)) {
            let (mut due, mut model) = (ReadyQueue::at_origin(3), vec![(Timestamp(0), 0), (Timestamp(0), 1), (Timestamp(0), 2)]);
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
