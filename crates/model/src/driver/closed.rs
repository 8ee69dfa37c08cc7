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
    ready: ReadyQueue<u32>,
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
        self.ready = ReadyQueue::new(stays.iter().map(|(user, stay)| (stay.joins.max(at), *user)).collect());
    }

    pub(super) fn peek(&self) -> Option<Timestamp> {
        self.ready.first().filter(|ready_at| self.remaining > 0 && *ready_at < self.end)
    }

    pub(super) fn place(&self) -> Option<LoadOrder> {
        let at = self.peek()?;
        let user = self.ready.next()?;
        Some(LoadOrder { at, is_new: false, number: self.first + u64::from(user) * self.stride })
    }

    pub(super) fn pop(&mut self) -> Option<(Arrival, u32)> {
        let intended_start = self.peek()?;
        let user = self.ready.pop()?;
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
        let (at, stay) = match now_or_later {
            stay if stay.joins > ended => (stay.joins, stay),
            stay if next < stay.leaves => (next, stay),
            stay => match self.users.stay_after(user, stay.leaves) {
                Some(later) => (later.joins, later),
                None => return,
            },
        };
        self.leaves[user as usize] = stay.leaves;
        self.ready.push(at, user);
    }

    pub(super) fn end_at(&mut self, end: Timestamp) {
        self.end = self.end.min(end);
    }

    /// Returns true if a user's next request is `cut`.
    pub(super) fn was_truncated(&self, cut: impl Fn(Option<Timestamp>) -> bool) -> bool {
        self.remaining > 0 && cut(self.ready.first())
    }

    /// Returns true if a count ends the requests and the last one was started.
    pub(super) fn all_started(&self) -> bool {
        self.remaining == 0
    }
}
