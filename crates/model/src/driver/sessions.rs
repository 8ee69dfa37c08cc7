//! The arrivals of sessions: sessions start on a schedule, and the requests inside a session follow each other.

use super::ready_queue::ReadyQueue;
use super::scheduled::{LoadOrder, OpenArrivals};
use super::share::WorkerShare;
use crate::arrival::Arrival;
use crate::record::{Ordinal, SessionPlace};
use crate::time::{Nanos, Timestamp};
use crate::workload::LoadModel;

#[derive(Clone, Copy, Debug)]
struct Session {
    /// Number among all sessions of the schedule.
    number: u64,
    remaining: u32,
    /// Number of its requests so far.
    arrived: u64,
    /// Requests that are in flight or planned. Without a script that branches there is one.
    open: u32,
}

#[derive(Clone, Debug)]
pub(super) struct PartlyOpenArrivals {
    sessions: OpenArrivals,
    /// Sessions whose follow-up request is due, by number and slot.
    follow_ups: ReadyQueue<(u64, u32)>,
    running: Vec<Session>,
    free_slots: Vec<u32>,
    requests_per_session: u32,
    think_time: Nanos,
    end: Timestamp,
    /// No follow-up is due at or after this time.
    follow_ups_end: Timestamp,
    next_index: u64,
    stride: u64,
}

impl PartlyOpenArrivals {
    pub(super) fn new(model: &LoadModel, share: WorkerShare) -> PartlyOpenArrivals {
        let LoadModel::PartlyOpen { sessions, requests_per_session, think_time } = model else {
            unreachable!("a partly open model")
        };
        let end = sessions.horizon.duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0));
        PartlyOpenArrivals {
            sessions: OpenArrivals::new(sessions, share),
            follow_ups: ReadyQueue::default(),
            running: Vec::new(),
            free_slots: Vec::new(),
            requests_per_session: *requests_per_session,
            think_time: *think_time,
            end,
            follow_ups_end: end,
            next_index: share.first(),
            stride: share.stride(),
        }
    }

    pub(super) fn next_follow_up(&self) -> Option<Timestamp> {
        self.follow_ups.first().filter(|due| *due < self.follow_ups_end)
    }

    pub(super) fn number_of(&self, slot: u32) -> u64 {
        self.running[slot as usize].number
    }

    /// Returns the place of the latest request of this slot in its session.
    pub(super) fn place_of(&self, slot: u32) -> SessionPlace {
        let Session { number, arrived, .. } = self.running[slot as usize];
        SessionPlace { session: Ordinal::new(number), turn: Ordinal::new(arrived - 1) }
    }

    /// Lets sessions end when the caller says so, and not by a time.
    pub(super) fn follow_script(&mut self) {
        self.follow_ups_end = Timestamp::NEVER;
    }

    /// Leaves out follow-ups that are due at or after `end`.
    pub(super) fn end_sessions_at(&mut self, end: Timestamp) {
        self.follow_ups_end = self.follow_ups_end.min(end);
    }

    /// Returns true if only a count ends the sessions.
    pub(super) fn has_no_end(&self) -> bool {
        self.end == Timestamp::NEVER
    }

    /// Returns true if a session was left out, or if the next follow-up of a running session is `cut`.
    pub(super) fn was_truncated(&self, cut: impl Fn(Option<Timestamp>) -> bool) -> bool {
        self.sessions.was_truncated() || cut(self.follow_ups.first())
    }

    pub(super) fn next_session(&self) -> Option<Timestamp> {
        self.sessions.peek()
    }

    pub(super) fn peek(&self) -> Option<Timestamp> {
        [self.next_session(), self.next_follow_up()].into_iter().flatten().min()
    }

    pub(super) fn pop(&mut self) -> Option<(Arrival, u32)> {
        let intended_start = self.peek()?;
        if self.next_follow_up() == Some(intended_start) {
            return self.pop_follow_up();
        }
        let session = self.sessions.pop()?;
        let slot = self.open_session(session.index);
        Some(self.arrive(intended_start, slot))
    }

    pub(super) fn pop_follow_up(&mut self) -> Option<(Arrival, u32)> {
        let intended_start = self.next_follow_up()?;
        let (_, slot) = self.follow_ups.pop()?;
        Some(self.arrive(intended_start, slot))
    }

    fn arrive(&mut self, intended_start: Timestamp, slot: u32) -> (Arrival, u32) {
        let arrival = Arrival { index: self.next_index, intended_start };
        self.next_index += self.stride;
        let session = &mut self.running[slot as usize];
        // A script may make more requests than the workload says.
        session.remaining = session.remaining.saturating_sub(1);
        session.arrived += 1;
        (arrival, slot)
    }

    fn open_session(&mut self, number: u64) -> u32 {
        let session = Session { number, remaining: self.requests_per_session.max(1), arrived: 0, open: 1 };
        match self.free_slots.pop() {
            Some(slot) => {
                self.running[slot as usize] = session;
                slot
            }
            None => {
                self.running.push(session);
                (self.running.len() - 1) as u32
            }
        }
    }

    pub(super) fn on_completion(&mut self, slot: u32, ended: Timestamp) -> bool {
        let is_over = self.running[slot as usize].remaining == 0;
        self.continue_or_end(slot, (!is_over).then(|| ended + self.think_time))
    }

    /// Plans a further request of the session at `at`, beside the one in flight.
    pub(super) fn branch(&mut self, slot: u32, at: Timestamp) {
        let session = &mut self.running[slot as usize];
        session.open += 1;
        self.follow_ups.push(at, (session.number, slot));
    }

    /// Continues the session at `next` after a request, or ends the session with its last open request. Returns true if
    /// nothing follows before the end.
    pub(super) fn continue_or_end(&mut self, slot: u32, next: Option<Timestamp>) -> bool {
        let session = &mut self.running[slot as usize];
        let is_alone = session.open == 1;
        match next {
            Some(at) => self.follow_ups.push(at, (session.number, slot)),
            None => {
                session.open -= 1;
                if is_alone {
                    self.free_slots.push(slot);
                }
            }
        }
        is_alone && next.is_none_or(|at| at >= self.follow_ups_end)
    }

    pub(super) fn place(&self) -> Option<LoadOrder> {
        let follow_up = self.next_follow_up().zip(self.follow_ups.next());
        let follow_up = follow_up.map(|(at, (number, _))| LoadOrder { at, is_new: false, number });
        let session = self.sessions.place().map(|place| LoadOrder { is_new: true, ..place });
        [follow_up, session].into_iter().flatten().min()
    }

    pub(super) fn skip_to(&mut self, at: Timestamp) {
        while self.sessions.peek().is_some_and(|due| due < at) {
            self.sessions.pop();
            self.next_index += self.stride;
        }
    }

    pub(super) fn end_at(&mut self, end: Timestamp) {
        self.end = self.end.min(end);
        self.follow_ups_end = self.follow_ups_end.min(end);
        self.sessions.end_at(self.end);
    }
}
