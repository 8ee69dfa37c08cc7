//! The arrivals of one worker, by load model.

use super::ready_queue::ReadyQueue;
use super::share::WorkerShare;
use crate::arrival::{Arrival, Arrivals, Schedule};
use crate::time::{Nanos, Timestamp};
use crate::workload::LoadModel;

/// The instant from which on a load model offers nothing more. The drain counts from it.
pub(super) fn end_of(model: &LoadModel) -> Timestamp {
    let by_time = model.horizon().duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0));
    match model {
        LoadModel::Open(schedule) if schedule.horizon.requests.is_some() => {
            let last = schedule.last_arrival().map(|last| last.intended_start);
            by_time.min(last.map_or(Timestamp::ZERO, |last| last + Nanos(1)))
        }
        // Where a count ends one of the other models, the end is not known beforehand: follow-ups of the last session
        // may come later than the last session.
        LoadModel::Open(_) | LoadModel::PartlyOpen { .. } | LoadModel::Closed { .. } => by_time,
    }
}

/// Where the arrivals of one worker come from.
#[derive(Clone, Debug)]
pub(super) enum ArrivalSource {
    Open(OpenArrivals),
    Closed(ClosedArrivals),
    PartlyOpen(PartlyOpenArrivals),
    /// For a worker without work.
    Idle,
}

impl ArrivalSource {
    pub(super) fn new(model: &LoadModel, share: WorkerShare) -> ArrivalSource {
        match model {
            LoadModel::Open(schedule) => ArrivalSource::Open(OpenArrivals::new(schedule, share)),
            LoadModel::Closed { .. } => ArrivalSource::Closed(ClosedArrivals::new(model, share)),
            LoadModel::PartlyOpen { .. } => ArrivalSource::PartlyOpen(PartlyOpenArrivals::new(model, share)),
        }
    }

    /// The intended start of the next arrival that is known by now.
    pub(super) fn peek(&self) -> Option<Timestamp> {
        match self {
            ArrivalSource::Open(source) => source.next.map(|arrival| arrival.intended_start),
            ArrivalSource::Closed(source) => source.peek(),
            ArrivalSource::PartlyOpen(source) => source.peek(),
            ArrivalSource::Idle => None,
        }
    }

    pub(super) fn pop(&mut self) -> Option<(Arrival, u32)> {
        match self {
            ArrivalSource::Open(source) => source.pop().map(|arrival| (arrival, 0)),
            ArrivalSource::Closed(source) => source.pop(),
            ArrivalSource::PartlyOpen(source) => source.pop(),
            ArrivalSource::Idle => None,
        }
    }

    pub(super) fn on_completion(&mut self, user: u32, ended: Timestamp) {
        match self {
            ArrivalSource::Open(_) | ArrivalSource::Idle => {}
            ArrivalSource::Closed(source) => source.ready.push(ended + source.think_time, user),
            ArrivalSource::PartlyOpen(source) => source.on_completion(user, ended),
        }
    }

    /// True when the end of a request may be followed by another arrival.
    pub(super) fn depends_on_completions(&self) -> bool {
        matches!(self, ArrivalSource::Closed(_) | ArrivalSource::PartlyOpen(_))
    }

    pub(super) fn end_at(&mut self, end: Timestamp) {
        match self {
            ArrivalSource::Open(source) => source.end_at(end),
            ArrivalSource::Closed(source) => source.end = source.end.min(end),
            ArrivalSource::PartlyOpen(source) => source.end_at(end),
            ArrivalSource::Idle => {}
        }
    }

    /// Once nothing is left to pop: true when there would be more, had the end stayed at `planned_end`.
    pub(super) fn was_truncated(&self, planned_end: Timestamp) -> bool {
        let is_before = |due: Option<Timestamp>| due.is_some_and(|due| due < planned_end);
        match self {
            ArrivalSource::Open(source) => source.was_truncated,
            ArrivalSource::Closed(source) => source.remaining > 0 && is_before(source.ready.first()),
            ArrivalSource::PartlyOpen(source) => source.sessions.was_truncated || is_before(source.follow_ups.first()),
            ArrivalSource::Idle => false,
        }
    }

    /// True when a count ends the arrivals and the last one was started: only then is the end known.
    pub(super) fn ends_with_last_start(&self) -> bool {
        match self {
            ArrivalSource::Closed(source) => source.remaining == 0,
            // Follow-ups may still come while sessions are under way, unless there is an instant that ends them too.
            ArrivalSource::PartlyOpen(source) => source.end == Timestamp::NEVER && source.peek().is_none(),
            ArrivalSource::Open(_) | ArrivalSource::Idle => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct OpenArrivals {
    arrivals: Arrivals,
    next: Option<Arrival>,
    end: Timestamp,
    /// An arrival was left out because it is not before `end`.
    was_truncated: bool,
}

impl OpenArrivals {
    fn new(schedule: &Schedule, share: WorkerShare) -> OpenArrivals {
        let mut arrivals = schedule.stripe(u64::from(share.index), u64::from(share.workers));
        let next = arrivals.next();
        OpenArrivals { arrivals, next, end: Timestamp::NEVER, was_truncated: false }
    }

    fn pop(&mut self) -> Option<Arrival> {
        self.next.take().inspect(|_| {
            self.next = self.arrivals.next();
            self.truncate_at_end();
        })
    }

    fn end_at(&mut self, end: Timestamp) {
        self.end = end;
        self.truncate_at_end();
    }

    #[inline]
    fn truncate_at_end(&mut self) {
        if self.next.is_some_and(|next| next.intended_start >= self.end) {
            self.next = None;
            self.was_truncated = true;
        }
    }
}

/// N users, each either ready from some instant on, or waiting for its answer.
#[derive(Clone, Debug)]
pub(super) struct ClosedArrivals {
    ready: ReadyQueue,
    think_time: Nanos,
    end: Timestamp,
    remaining: u64,
    next_index: u64,
    stride: u64,
}

impl ClosedArrivals {
    fn new(model: &LoadModel, share: WorkerShare) -> ClosedArrivals {
        let LoadModel::Closed { users, think_time, horizon } = model else { unreachable!("a closed model") };
        let mine = share.of(u64::from(*users)) as u32;
        ClosedArrivals {
            ready: ReadyQueue::at_origin(mine),
            think_time: *think_time,
            end: horizon.duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0)),
            remaining: horizon.requests.map_or(u64::MAX, |total| share.of(total)),
            next_index: u64::from(share.index),
            stride: u64::from(share.workers),
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

/// Sessions on a schedule, and follow-up requests of the sessions that are under way.
#[derive(Clone, Debug)]
pub(super) struct PartlyOpenArrivals {
    sessions: OpenArrivals,
    /// Follow-up requests that are due, by their session's slot.
    follow_ups: ReadyQueue,
    /// How many requests each running session still has to make, by slot.
    remaining: Vec<u32>,
    free_slots: Vec<u32>,
    requests_per_session: u32,
    think_time: Nanos,
    end: Timestamp,
    next_index: u64,
    stride: u64,
}

impl PartlyOpenArrivals {
    fn new(model: &LoadModel, share: WorkerShare) -> PartlyOpenArrivals {
        let LoadModel::PartlyOpen { sessions, requests_per_session, think_time } = model else {
            unreachable!("a partly open model")
        };
        PartlyOpenArrivals {
            sessions: OpenArrivals::new(sessions, share),
            follow_ups: ReadyQueue::default(),
            remaining: Vec::new(),
            free_slots: Vec::new(),
            requests_per_session: *requests_per_session,
            think_time: *think_time,
            end: sessions.horizon.duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0)),
            next_index: u64::from(share.index),
            stride: u64::from(share.workers),
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

    fn on_completion(&mut self, slot: u32, ended: Timestamp) {
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
