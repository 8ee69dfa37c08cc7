//! Where arrivals come from, by load model.

use super::Hand;
use super::due::Due;
use crate::arrival::{Arrival, Arrivals, Schedule};
use crate::time::{Nanos, Timestamp};
use crate::workload::LoadModel;

/// The instant at which a load model has nothing more to offer, so that a backlog cannot outlive its drain.
pub(super) fn end_of(model: &LoadModel) -> Timestamp {
    let by_time = model.horizon().duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0));
    match model {
        LoadModel::Open(schedule) if schedule.horizon.requests.is_some() => {
            let last = schedule.last_arrival().map(|last| last.intended_start);
            by_time.min(last.map_or(Timestamp::ZERO, |last| last + Nanos(1)))
        }
        // Where a count ends the others, nobody knows when before it happens: follow-ups of the last session may come
        // later than the last session.
        LoadModel::Open(_) | LoadModel::PartlyOpen { .. } | LoadModel::Closed { .. } => by_time,
    }
}

/// Where the next arrival comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Open(OpenSource),
    Closed(ClosedSource),
    PartlyOpen(PartlyOpenSource),
    /// Of a hand that there is no work for.
    Idle,
}

impl Source {
    pub(super) fn new(model: &LoadModel, hand: Hand) -> Source {
        match model {
            LoadModel::Open(schedule) => Source::Open(OpenSource::new(schedule, hand)),
            LoadModel::Closed { .. } => Source::Closed(ClosedSource::new(model, hand)),
            LoadModel::PartlyOpen { .. } => Source::PartlyOpen(PartlyOpenSource::new(model, hand)),
        }
    }

    /// The intended start of the next arrival that is known by now.
    pub(super) fn peek(&self) -> Option<Timestamp> {
        match self {
            Source::Open(source) => source.next.map(|arrival| arrival.intended_start),
            Source::Closed(source) => source.peek(),
            Source::PartlyOpen(source) => source.peek(),
            Source::Idle => None,
        }
    }

    pub(super) fn pop(&mut self) -> Option<(Arrival, u32)> {
        match self {
            Source::Open(source) => source.pop().map(|arrival| (arrival, 0)),
            Source::Closed(source) => source.pop(),
            Source::PartlyOpen(source) => source.pop(),
            Source::Idle => None,
        }
    }

    pub(super) fn answered(&mut self, user: u32, ended: Timestamp) {
        match self {
            Source::Open(_) | Source::Idle => {}
            Source::Closed(source) => source.ready.push(ended + source.think_time, user),
            Source::PartlyOpen(source) => source.answered(user, ended),
        }
    }

    /// What was answered may be followed by another arrival.
    pub(super) fn follows_answers(&self) -> bool {
        matches!(self, Source::Closed(_) | Source::PartlyOpen(_))
    }

    pub(super) fn end_at(&mut self, end: Timestamp) {
        match self {
            Source::Open(source) => source.end_at(end),
            Source::Closed(source) => source.end = source.end.min(end),
            Source::PartlyOpen(source) => source.end_at(end),
            Source::Idle => {}
        }
    }

    /// When nothing is left to pop: is there something that would have been, had the end stayed at `planned_end`?
    pub(super) fn kept_back(&self, planned_end: Timestamp) -> bool {
        let is_before = |due: Option<Timestamp>| due.is_some_and(|due| due < planned_end);
        match self {
            Source::Open(source) => source.kept_back,
            Source::Closed(source) => source.remaining > 0 && is_before(source.ready.first()),
            Source::PartlyOpen(source) => source.sessions.kept_back || is_before(source.follow_ups.first()),
            Source::Idle => false,
        }
    }

    /// Where the end is a count, it is known only when nothing is left to start.
    pub(super) fn ends_with_its_last_start(&self) -> bool {
        match self {
            Source::Closed(source) => source.remaining == 0,
            // Under way it is not known whether there will be follow-ups, unless there is an instant that ends them too.
            Source::PartlyOpen(source) => source.end == Timestamp::NEVER && source.peek().is_none(),
            Source::Open(_) | Source::Idle => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct OpenSource {
    arrivals: Arrivals,
    next: Option<Arrival>,
    end: Timestamp,
    /// An arrival was not taken, because it is not before the end.
    kept_back: bool,
}

impl OpenSource {
    fn new(schedule: &Schedule, hand: Hand) -> OpenSource {
        let mut arrivals = schedule.stripe(u64::from(hand.index), u64::from(hand.of));
        let next = arrivals.next();
        OpenSource { arrivals, next, end: Timestamp::NEVER, kept_back: false }
    }

    fn pop(&mut self) -> Option<Arrival> {
        self.next.take().inspect(|_| {
            self.next = self.arrivals.next();
            self.keep_to_end();
        })
    }

    fn end_at(&mut self, end: Timestamp) {
        self.end = end;
        self.keep_to_end();
    }

    #[inline]
    fn keep_to_end(&mut self) {
        if self.next.is_some_and(|next| next.intended_start >= self.end) {
            self.next = None;
            self.kept_back = true;
        }
    }
}

/// N users, each either ready from an instant on or waiting for an answer.
#[derive(Clone, Debug)]
pub(super) struct ClosedSource {
    ready: Due,
    think_time: Nanos,
    end: Timestamp,
    remaining: u64,
    next_index: u64,
    stride: u64,
}

impl ClosedSource {
    fn new(model: &LoadModel, hand: Hand) -> ClosedSource {
        let LoadModel::Closed { users, think_time, horizon } = model else { unreachable!("a closed model") };
        let mine = hand.share_of(u64::from(*users)) as u32;
        ClosedSource {
            ready: Due::at_origin(mine),
            think_time: *think_time,
            end: horizon.duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0)),
            remaining: horizon.requests.map_or(u64::MAX, |total| hand.share_of(total)),
            next_index: u64::from(hand.index),
            stride: u64::from(hand.of),
        }
    }

    fn peek(&self) -> Option<Timestamp> {
        self.ready.first().filter(|ready_at| self.remaining > 0 && *ready_at < self.end)
    }

    fn pop(&mut self) -> Option<(Arrival, u32)> {
        let intended_start = self.peek()?;
        let user = self.ready.pop()?;
        let arrival = Arrival { index: self.next_index, intended_start };
        self.next_index += self.stride;
        self.remaining = self.remaining.saturating_sub(1);
        Some((arrival, user))
    }
}

/// Sessions on a schedule, and the follow-ups of those that are under way.
#[derive(Clone, Debug)]
pub(super) struct PartlyOpenSource {
    sessions: OpenSource,
    /// Follow-ups that are due at an instant, with the session's slot.
    follow_ups: Due,
    /// Requests that each running session still has before it, by slot.
    remaining: Vec<u32>,
    free_slots: Vec<u32>,
    requests_per_session: u32,
    think_time: Nanos,
    end: Timestamp,
    next_index: u64,
    stride: u64,
}

impl PartlyOpenSource {
    fn new(model: &LoadModel, hand: Hand) -> PartlyOpenSource {
        let LoadModel::PartlyOpen { sessions, requests_per_session, think_time } = model else {
            unreachable!("a partly open model")
        };
        PartlyOpenSource {
            sessions: OpenSource::new(sessions, hand),
            follow_ups: Due::default(),
            remaining: Vec::new(),
            free_slots: Vec::new(),
            requests_per_session: *requests_per_session,
            think_time: *think_time,
            end: sessions.horizon.duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0)),
            next_index: u64::from(hand.index),
            stride: u64::from(hand.of),
        }
    }

    fn next_follow_up(&self) -> Option<Timestamp> {
        self.follow_ups.first().filter(|due| *due < self.end)
    }

    fn peek(&self) -> Option<Timestamp> {
        let session = self.sessions.next.map(|arrival| arrival.intended_start);
        [session, self.next_follow_up()].into_iter().flatten().min()
    }

    fn pop(&mut self) -> Option<(Arrival, u32)> {
        let intended_start = self.peek()?;
        let slot = if self.next_follow_up() == Some(intended_start) {
            self.follow_ups.pop()?
        } else {
            self.sessions.pop();
            self.open_session()
        };
        let arrival = Arrival { index: self.next_index, intended_start };
        self.next_index += self.stride;
        self.remaining[slot as usize] -= 1;
        Some((arrival, slot))
    }

    fn open_session(&mut self) -> u32 {
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.remaining.push(0);
            (self.remaining.len() - 1) as u32
        });
        self.remaining[slot as usize] = self.requests_per_session.max(1);
        slot
    }

    fn answered(&mut self, slot: u32, ended: Timestamp) {
        if self.remaining[slot as usize] > 0 {
            self.follow_ups.push(ended + self.think_time, slot);
        } else {
            self.free_slots.push(slot);
        }
    }

    fn end_at(&mut self, end: Timestamp) {
        self.end = self.end.min(end);
        self.sessions.end_at(self.end);
    }
}
