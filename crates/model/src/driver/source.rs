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

/// The place of an arrival in the order of the whole load: what is dealt out in stripes starts in the same order as it does
/// undivided.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// When it is due.
    pub at: Timestamp,
    /// Of two that are due together, the one that begins a session comes after the one that continues one.
    is_new: bool,
    /// The number of the arrival, user or session among all of them.
    number: u64,
}

impl Place {
    fn of_schedule(arrival: Arrival) -> Place {
        Place { at: arrival.intended_start, is_new: false, number: arrival.index }
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

    /// The place of the next arrival among those of all stripes.
    pub(super) fn place(&self) -> Option<Place> {
        match self {
            ArrivalSource::Open(source) => source.next.map(Place::of_schedule),
            ArrivalSource::Closed(source) => source.place(),
            ArrivalSource::PartlyOpen(source) => source.place(),
            ArrivalSource::Idle => None,
        }
    }

    /// Leaves out what is due before `at`, and returns it. Users, who have no schedule, begin at `at` instead, and miss
    /// nothing.
    pub(super) fn skip_to(&mut self, at: Timestamp) -> ArrivalSource {
        let mut missed = self.clone();
        missed.end_at(at);
        match self {
            ArrivalSource::Open(source) => source.skip_to(at),
            ArrivalSource::Closed(source) => source.ready.delay_to(at),
            ArrivalSource::PartlyOpen(source) => source.skip_to(at),
            ArrivalSource::Idle => {}
        }
        if matches!(missed, ArrivalSource::Closed(_)) { ArrivalSource::Idle } else { missed }
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

    /// Sessions end when the caller says so, and not by a count or a time.
    pub(super) fn follow_script(&mut self) {
        if let ArrivalSource::PartlyOpen(source) = self {
            source.follow_ups_end = Timestamp::NEVER;
        }
    }

    /// The session of `user` goes on at `next`, or has ended.
    pub(super) fn go_on(&mut self, user: u32, next: Option<Timestamp>) {
        if let ArrivalSource::PartlyOpen(source) = self {
            source.go_on(user, next);
        }
    }

    /// What is due in sessions at or after `end` is left out.
    pub(super) fn end_sessions_at(&mut self, end: Timestamp) {
        if let ArrivalSource::PartlyOpen(source) = self {
            source.follow_ups_end = source.follow_ups_end.min(end);
        }
    }

    /// The place of the session of `user` among all sessions.
    pub(super) fn session_number(&self, user: u32) -> u64 {
        match self {
            ArrivalSource::PartlyOpen(source) => source.running[user as usize].number,
            ArrivalSource::Open(_) | ArrivalSource::Closed(_) | ArrivalSource::Idle => 0,
        }
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
        let mut arrivals = schedule.stripe(share.first(), share.stride());
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

    fn skip_to(&mut self, at: Timestamp) {
        while self.next.is_some_and(|next| next.intended_start < at) {
            self.pop();
        }
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
    ready: ReadyQueue<u32>,
    think_time: Nanos,
    end: Timestamp,
    remaining: u64,
    next_index: u64,
    /// The number of its first user among those of all workers.
    first: u64,
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
            next_index: share.first(),
            first: share.first(),
            stride: share.stride(),
        }
    }

    fn peek(&self) -> Option<Timestamp> {
        self.ready.first().filter(|ready_at| self.remaining > 0 && *ready_at < self.end)
    }

    fn place(&self) -> Option<Place> {
        let at = self.peek()?;
        let user = self.ready.next()?;
        Some(Place { at, is_new: false, number: self.first + u64::from(user) * self.stride })
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

/// A session that is under way.
#[derive(Clone, Copy, Debug)]
struct Session {
    /// Its place among all sessions of the schedule.
    number: u64,
    /// How many requests it still has to make.
    remaining: u32,
}

/// Sessions on a schedule, and follow-up requests of the sessions that are under way.
#[derive(Clone, Debug)]
pub(super) struct PartlyOpenArrivals {
    sessions: OpenArrivals,
    /// Follow-up requests that are due, by their session and its slot.
    follow_ups: ReadyQueue<(u64, u32)>,
    /// Each running session, by slot.
    running: Vec<Session>,
    free_slots: Vec<u32>,
    requests_per_session: u32,
    think_time: Nanos,
    end: Timestamp,
    /// No follow-up is due at or after this.
    follow_ups_end: Timestamp,
    next_index: u64,
    stride: u64,
}

impl PartlyOpenArrivals {
    fn new(model: &LoadModel, share: WorkerShare) -> PartlyOpenArrivals {
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

    fn next_follow_up(&self) -> Option<Timestamp> {
        self.follow_ups.first().filter(|due| *due < self.follow_ups_end)
    }

    fn peek(&self) -> Option<Timestamp> {
        let session = self.sessions.next.map(|arrival| arrival.intended_start);
        [session, self.next_follow_up()].into_iter().flatten().min()
    }

    fn pop(&mut self) -> Option<(Arrival, u32)> {
        let intended_start = self.peek()?;
        let slot = if self.next_follow_up() == Some(intended_start) {
            self.follow_ups.pop()?.1
        } else {
            let session = self.sessions.pop()?;
            self.open_session(session.index)
        };
        let arrival = Arrival { index: self.next_index, intended_start };
        self.next_index += self.stride;
        let session = &mut self.running[slot as usize];
        // A script may ask for more than the workload says.
        session.remaining = session.remaining.saturating_sub(1);
        Some((arrival, slot))
    }

    fn open_session(&mut self, number: u64) -> u32 {
        let session = Session { number, remaining: self.requests_per_session.max(1) };
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

    fn on_completion(&mut self, slot: u32, ended: Timestamp) {
        let is_over = self.running[slot as usize].remaining == 0;
        self.go_on(slot, (!is_over).then(|| ended + self.think_time));
    }

    fn go_on(&mut self, slot: u32, next: Option<Timestamp>) {
        match next {
            Some(at) => self.follow_ups.push(at, (self.running[slot as usize].number, slot)),
            None => self.free_slots.push(slot),
        }
    }

    fn place(&self) -> Option<Place> {
        let follow_up = self.next_follow_up().zip(self.follow_ups.next());
        let follow_up = follow_up.map(|(at, (number, _))| Place { at, is_new: false, number });
        let session = self.sessions.next.map(|session| Place { is_new: true, ..Place::of_schedule(session) });
        [follow_up, session].into_iter().flatten().min()
    }

    fn skip_to(&mut self, at: Timestamp) {
        while self.sessions.next.is_some_and(|session| session.intended_start < at) {
            self.sessions.pop();
            self.next_index += self.stride;
        }
    }

    fn end_at(&mut self, end: Timestamp) {
        self.end = self.end.min(end);
        self.follow_ups_end = self.follow_ups_end.min(end);
        self.sessions.end_at(self.end);
    }
}
