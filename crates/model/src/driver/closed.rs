//! The arrivals of users who wait for their answers.

use super::ready_queue::ReadyQueue;
use super::scheduled::LoadOrder;
use super::share::WorkerShare;
use crate::arrival::Arrival;
use crate::time::{Nanos, Timestamp};
use crate::users::Users;
use crate::workload::LoadModel;

/// Users of the closed model: each is ready from some instant on, waits for an answer, or has left.
#[derive(Clone, Debug)]
pub(super) struct ClosedArrivals {
    users: Users,
    /// Users whose next request follows an answer, or who were there from the beginning.
    ready: ReadyQueue<u32>,
    /// Users who join later. They are apart, because nearly every answer is due before them: it would be inserted in
    /// the middle of one queue.
    joins: ReadyQueue<u32>,
    /// The end of each user's stay in which the latest request began. Empty if nobody leaves.
    leaves: Vec<Timestamp>,
    think_time: Nanos,
    end: Timestamp,
    remaining: u64,
    next_index: u64,
    /// Number of its first user among the users of all workers.
    first: u64,
    stride: u64,
}

impl ClosedArrivals {
    pub(super) fn new(model: &LoadModel, share: WorkerShare) -> ClosedArrivals {
        let LoadModel::Closed { users, think_time, horizon } = model else { unreachable!("a closed model") };
        let mut arrivals = ClosedArrivals {
            users: users.dealt(share.index, share.workers),
            ready: ReadyQueue::default(),
            joins: ReadyQueue::default(),
            leaves: Vec::new(),
            think_time: *think_time,
            end: horizon.duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0)),
            remaining: horizon.requests.map_or(u64::MAX, |total| share.share_of(total)),
            next_index: share.first(),
            first: share.first(),
            stride: share.stride(),
        };
        arrivals.begin_at(Timestamp::ZERO);
        arrivals
    }

    /// Makes each user ready at `at`, or at the first instant after it at which the user joins. Nobody has begun.
    pub(super) fn begin_at(&mut self, at: Timestamp) {
        let most = self.users.most();
        let stays = (0..most).filter_map(|user| Some((user, self.users.stay_after(user, at)?)));
        let stays: Vec<_> = stays.collect();
        if !self.users.is_constant() {
            self.leaves = vec![Timestamp::ZERO; most as usize];
            stays.iter().for_each(|(user, stay)| self.leaves[*user as usize] = stay.leaves);
        }
        let due = stays.iter().map(|(user, stay)| (stay.joins.max(at), *user));
        let (now, later) = due.partition(|(due, _)| *due <= at);
        [self.ready, self.joins] = [now, later].map(ReadyQueue::new);
        if !self.users.is_constant() {
            self.ready.make_room_for(stays.len());
            self.joins.make_room_for(stays.len());
        }
    }

    /// Returns the first user, with the due time: of those who are due at the same instant, the one with the lowest
    /// number.
    #[inline]
    fn earliest(&self) -> Option<(Timestamp, u32)> {
        match (self.ready.head(), self.joins.head()) {
            (Some(ready), Some(join)) => Some(ready.min(join)),
            (ready, join) => ready.or(join),
        }
    }

    /// Returns the first user, if the load has not ended by the due time.
    #[inline]
    fn next(&self) -> Option<(Timestamp, u32)> {
        self.earliest().filter(|(at, _)| self.remaining > 0 && *at < self.end)
    }

    pub(super) fn peek(&self) -> Option<Timestamp> {
        self.next().map(|(at, _)| at)
    }

    pub(super) fn place(&self) -> Option<LoadOrder> {
        let (at, user) = self.next()?;
        Some(LoadOrder { at, is_new: false, number: self.first + u64::from(user) * self.stride })
    }

    pub(super) fn pop(&mut self) -> Option<(Arrival, u32)> {
        let (intended_start, user) = self.next()?;
        let is_join = self.joins.head() == Some((intended_start, user));
        let queue = if is_join { &mut self.joins } else { &mut self.ready };
        queue.pop();
        let arrival = Arrival { index: self.next_index, intended_start };
        self.next_index += self.stride;
        self.remaining = self.remaining.saturating_sub(1);
        Some((arrival, user))
    }

    /// Makes `user` ready after the think time, unless the user leaves before. A user who has left is ready when
    /// joining again. One who left and joined again while the request was in flight continues as if nothing had
    /// happened.
    pub(super) fn on_completion(&mut self, user: u32, ended: Timestamp) {
        let next = ended + self.think_time;
        if self.leaves.get(user as usize).is_none_or(|leaves| next < *leaves) {
            return self.ready.push(next, user);
        }
        let Some(now_or_later) = self.users.stay_after(user, ended) else { return };
        let stay = match now_or_later {
            stay if stay.joins <= ended && next < stay.leaves => {
                self.leaves[user as usize] = stay.leaves;
                return self.ready.push(next, user);
            }
            stay if stay.joins <= ended => self.users.stay_after(user, stay.leaves),
            stay => Some(stay),
        };
        if let Some(stay) = stay {
            self.leaves[user as usize] = stay.leaves;
            self.joins.push(stay.joins, user);
        }
    }

    pub(super) fn end_at(&mut self, end: Timestamp) {
        self.end = self.end.min(end);
    }

    /// Returns true if a user's next request is `cut`.
    pub(super) fn was_truncated(&self, cut: impl Fn(Option<Timestamp>) -> bool) -> bool {
        self.remaining > 0 && cut(self.earliest().map(|(at, _)| at))
    }

    /// Returns true if a count ends the requests and the last one was started.
    pub(super) fn all_started(&self) -> bool {
        self.remaining == 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};

    use proptest::prelude::*;

    use super::*;
    use crate::arrival::Horizon;

    fn arrivals(users: &str, think_time: Nanos) -> ClosedArrivals {
        let users: Users = users.parse().unwrap();
        let horizon = Horizon { duration: users.natural_length(), requests: None };
        ClosedArrivals::new(&LoadModel::Closed { users, think_time, horizon }, WorkerShare::WHOLE)
    }

    /// Users who join later would have to be moved for nearly every answer.
    #[test]
    fn answers_are_not_put_before_those_who_join_later() {
        const SERVICE: Nanos = Nanos::from_millis(50);
        let mut arrivals = arrivals("0..1000/10s,1000..0/1s,0..1000/10s", Nanos::from_millis(3));
        let mut under_way: VecDeque<(Timestamp, u32)> = VecDeque::new();
        let mut requests = 0;
        loop {
            let due = arrivals.peek();
            let at = match under_way.front().copied() {
                Some((ended, user)) if due.is_none_or(|due| ended <= due) => {
                    under_way.pop_front();
                    arrivals.on_completion(user, ended);
                    ended
                }
                _ => {
                    let Some((arrival, user)) = arrivals.pop() else { break };
                    under_way.push_back((arrival.intended_start + SERVICE, user));
                    requests += 1;
                    arrival.intended_start
                }
            };
            let active = arrivals.users.active_at(at) as usize;
            assert!(arrivals.ready.len() <= active, "{} of {active} users at {at:?}", arrivals.ready.len());
        }
        assert!(requests > 190_000, "{requests}");
    }

    proptest! {
        /// Each user is in one of the queues, so their order is that of a single one.
        #[test]
        fn the_earliest_comes_first_and_the_lowest_number_among_equals(
            stages in proptest::collection::vec((0u32..9, 0u32..9, 1u64..40), 1..5),
            think_time in 0u64..9,
            took in proptest::collection::vec(0u64..30, 1..200),
        ) {
            prop_assume!(stages.iter().any(|(from, to, _)| from + to > 0));
            let stages: Vec<String> = stages.iter().map(|(from, to, length)| format!("{from}..{to}/{length}ns")).collect();
            let mut arrivals = arrivals(&stages.join(","), Nanos(think_time));
            let mut all = BTreeSet::new();
            let mut under_way = Vec::new();
            for took in took {
                all.clear();
                all.extend(arrivals.ready.iter().chain(arrivals.joins.iter()));
                prop_assert_eq!(all.len(), arrivals.ready.len() + arrivals.joins.len());
                prop_assert_eq!(arrivals.earliest(), all.first().copied());
                prop_assert!(under_way.iter().all(|(_, user)| all.iter().all(|(_, ready)| ready != user)));
                match arrivals.pop() {
                    Some((arrival, user)) => {
                        prop_assert_eq!(Some((arrival.intended_start, user)), all.first().copied());
                        under_way.push((arrival.intended_start + Nanos(took), user));
                    }
                    None if under_way.is_empty() => break,
                    None => {}
                }
                if took % 3 > 0 && !under_way.is_empty() {
                    let (ended, user) = under_way.swap_remove(took as usize % under_way.len());
                    arrivals.on_completion(user, ended);
                }
            }
        }
    }
}
