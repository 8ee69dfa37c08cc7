//! The sans-I/O pump. Sockets drive it in real time, the simulator drives it in virtual time, and it is the same code.
//!
//! The caller asks [`Driver::turn`] what to do at an instant and obeys: start a request, or wait. When a request ends
//! in whatever way it says [`Driver::finish`]. The driver decides what starts when, holds the cap on requests in flight,
//! and knows of each start how long it had to wait for that cap. It opens nothing, records nothing and reads no clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::arrival::{Arrival, Arrivals, Schedule, ScheduleHash, Spacing};
use crate::time::{Nanos, Timestamp};
use crate::workload::{LoadModel, Workload};

/// Which share of the work one driver has: hand `index` of `of`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hand {
    /// From 0, below `of`.
    pub index: u32,
    /// How many there are, at least 1.
    pub of: u32,
}

impl Hand {
    /// The only hand.
    pub const ALONE: Hand = Hand { index: 0, of: 1 };

    /// This hand's part of `total` things dealt one by one.
    pub const fn share_of(self, total: u64) -> u64 {
        let (index, of) = (self.index as u64, self.of as u64);
        total / of + if index < total % of { 1 } else { 0 }
    }
}

/// A request that is to start now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// Which, and when it should have started.
    pub arrival: Arrival,
    /// Who asks: to be handed back to [`Driver::finish`].
    pub user: u32,
    /// How long it waited for the cap on requests in flight; what remains of its delay is nobody's but the caller's.
    pub connection_wait: Nanos,
}

/// What to do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Start this request, then ask again.
    Start(Start),
    /// Nothing can start before `until` unless a request ends first. [`Timestamp::NEVER`]: only an end can change it.
    Wait {
        /// When to ask again at the latest.
        until: Timestamp,
    },
    /// The drain limit is over: end what is in flight, then count [`Driver::unissued`].
    Expired,
    /// Everything was issued and has ended.
    Finished,
}

/// The pump of one hand.
#[derive(Clone, Debug)]
pub struct Driver {
    source: Source,
    permits: Permits,
    in_flight: u64,
    /// Arrivals are not intended at or after this instant.
    end: Timestamp,
    drain: Nanos,
    stopped: bool,
    hash: ScheduleHash,
}

impl Driver {
    /// The driver of `hand`. All hands together do the whole workload, exactly.
    pub fn new(workload: &Workload, hand: Hand) -> Driver {
        let cap = workload.limits.connections.map(|total| hand.share_of(u64::from(total)));
        Driver {
            source: Source::new(&workload.model, hand),
            permits: Permits::new(cap),
            in_flight: 0,
            end: end_of(&workload.model),
            drain: workload.limits.drain,
            stopped: false,
            hash: ScheduleHash::default(),
        }
    }

    /// What to do at `now`. Call again until it answers with anything but [`Turn::Start`].
    pub fn turn(&mut self, now: Timestamp) -> Turn {
        let deadline = self.deadline();
        let next = if self.stopped { None } else { self.source.peek() };
        let Some(next) = next else {
            return match self.in_flight {
                0 => Turn::Finished,
                _ if now >= deadline => Turn::Expired,
                _ => Turn::Wait { until: deadline },
            };
        };
        if now >= deadline {
            return Turn::Expired;
        }
        if next > now {
            return Turn::Wait { until: next.min(deadline) };
        }
        match self.permits.take(next) {
            None => Turn::Wait { until: deadline },
            Some(connection_wait) => {
                let (arrival, user) = self.source.pop().expect("peeked");
                self.in_flight += 1;
                self.hash.add(arrival);
                Turn::Start(Start { arrival, user, connection_wait })
            }
        }
    }

    /// A request of `user` ended at `ended`: answered, failed or given up.
    pub fn finish(&mut self, user: u32, ended: Timestamp) {
        debug_assert!(self.in_flight > 0, "a request ended that was never started");
        self.in_flight -= 1;
        self.permits.give_back(ended);
        self.source.answered(user, ended);
    }

    /// Nothing starts any more; arrivals intended after `now` are not planned any more. What is in flight may still
    /// end until the drain limit, which counts from `now`.
    pub fn stop(&mut self, now: Timestamp) {
        if !self.stopped {
            self.stopped = true;
            self.end = self.end.min(Timestamp(now.0.saturating_add(1)));
            self.source.end_at(self.end);
        }
    }

    /// Ends now: no drain either. The next [`Driver::turn`] answers `Expired` or `Finished`.
    pub fn stop_now(&mut self, now: Timestamp) {
        self.stop(now);
        self.drain = Nanos::ZERO;
        self.end = self.end.min(now);
    }

    /// The next arrival that was planned and will not be issued, once the run is over. Call until `None`.
    pub fn unissued(&mut self) -> Option<Arrival> {
        let arrival = self.source.pop()?.0;
        self.hash.add(arrival);
        Some(arrival)
    }

    /// Requests that were started and have not ended.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// The hash of all arrivals that were handed out, by `turn` or by `unissued`.
    pub fn schedule_hash(&self) -> ScheduleHash {
        self.hash
    }

    /// When the drain is over, as far as that is known by now. Fixed from the start for the open model; with a horizon
    /// that is a count the other models know it once the last request was started.
    pub fn deadline(&self) -> Timestamp {
        self.source.last_intended_when_exhausted().map_or(self.end, |last| last.min(self.end)) + self.drain
    }
}

/// The instant at which a load model has nothing more to offer, so that a backlog cannot outlive its drain.
fn end_of(model: &LoadModel) -> Timestamp {
    let end_of_schedule = |schedule: &Schedule| match (schedule.horizon.duration, schedule.horizon.requests) {
        (duration, Some(requests)) => {
            let by_count = end_by_count(schedule, requests);
            duration.map_or(by_count, |duration| by_count.min(Timestamp(duration.0)))
        }
        (Some(duration), None) => Timestamp(duration.0),
        (None, None) => Timestamp::NEVER,
    };
    match model {
        LoadModel::Open(schedule) => end_of_schedule(schedule),
        // Follow-ups of the last session may come later than the last session.
        LoadModel::PartlyOpen { sessions, .. } => {
            sessions.horizon.duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0))
        }
        LoadModel::Closed { horizon, .. } => {
            horizon.duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0))
        }
    }
}

/// The instant just after arrival `requests - 1`. Even spacing computes it; random spacing has to walk there.
fn end_by_count(schedule: &Schedule, requests: u64) -> Timestamp {
    let last = requests.saturating_sub(1);
    let arrival = match schedule.spacing {
        Spacing::Even if last > 0 => schedule.stripe(last, requests).next(),
        _ => schedule.arrivals().last(),
    };
    arrival.map_or(Timestamp::ZERO, |arrival| Timestamp(arrival.intended_start.0 + 1))
}

/// The cap on requests in flight, as instants at which places became free.
#[derive(Clone, Debug)]
struct Permits {
    /// Places never used so far; `None`: no cap at all.
    fresh: Option<u64>,
    /// When each place that is free again was given back, oldest first.
    freed: VecDeque<Timestamp>,
}

/// Room for this many returned places is made before the run, so that a cap of usual size never allocates in it.
const PERMITS_MADE_READY: u64 = 1 << 16;

impl Permits {
    fn new(cap: Option<u64>) -> Permits {
        let ready = cap.unwrap_or(0).min(PERMITS_MADE_READY) as usize;
        Permits { fresh: cap, freed: VecDeque::with_capacity(ready) }
    }

    /// Takes a place for a request intended at `intended`, and says how long it had to wait for one.
    fn take(&mut self, intended: Timestamp) -> Option<Nanos> {
        match &mut self.fresh {
            None => Some(Nanos::ZERO),
            Some(0) => self.freed.pop_front().map(|freed_at| freed_at.since(intended)),
            Some(fresh) => {
                *fresh -= 1;
                Some(Nanos::ZERO)
            }
        }
    }

    fn give_back(&mut self, at: Timestamp) {
        if self.fresh.is_some() {
            self.freed.push_back(at);
        }
    }
}

/// Where the next arrival comes from.
#[derive(Clone, Debug)]
enum Source {
    Open(OpenSource),
    Closed(ClosedSource),
    PartlyOpen(PartlyOpenSource),
}

impl Source {
    fn new(model: &LoadModel, hand: Hand) -> Source {
        match model {
            LoadModel::Open(schedule) => Source::Open(OpenSource::new(schedule, hand)),
            LoadModel::Closed { .. } => Source::Closed(ClosedSource::new(model, hand)),
            LoadModel::PartlyOpen { .. } => Source::PartlyOpen(PartlyOpenSource::new(model, hand)),
        }
    }

    /// The intended start of the next arrival that is known by now.
    fn peek(&self) -> Option<Timestamp> {
        match self {
            Source::Open(source) => source.next.map(|arrival| arrival.intended_start),
            Source::Closed(source) => source.peek(),
            Source::PartlyOpen(source) => source.peek(),
        }
    }

    fn pop(&mut self) -> Option<(Arrival, u32)> {
        match self {
            Source::Open(source) => source.pop().map(|arrival| (arrival, 0)),
            Source::Closed(source) => source.pop(),
            Source::PartlyOpen(source) => source.pop(),
        }
    }

    fn answered(&mut self, user: u32, ended: Timestamp) {
        match self {
            Source::Open(_) => {}
            Source::Closed(source) => source.ready.push(Reverse((ended + source.think_time, user))),
            Source::PartlyOpen(source) => source.answered(user, ended),
        }
    }

    fn end_at(&mut self, end: Timestamp) {
        match self {
            Source::Open(source) => {
                source.end = end;
                source.next = source.next.filter(|next| next.intended_start < end);
            }
            Source::Closed(source) => source.end = source.end.min(end),
            Source::PartlyOpen(source) => source.end_at(end),
        }
    }

    /// Where the end is a count, the drain is counted from the last intended start, which is known at the end only.
    fn last_intended_when_exhausted(&self) -> Option<Timestamp> {
        match self {
            Source::Closed(source) if source.remaining == 0 => Some(source.last),
            Source::PartlyOpen(source) if source.peek().is_none() => Some(source.last),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
struct OpenSource {
    arrivals: Arrivals,
    next: Option<Arrival>,
    end: Timestamp,
}

impl OpenSource {
    fn new(schedule: &Schedule, hand: Hand) -> OpenSource {
        let mut arrivals = schedule.stripe(u64::from(hand.index), u64::from(hand.of));
        let next = arrivals.next();
        OpenSource { arrivals, next, end: Timestamp::NEVER }
    }

    fn pop(&mut self) -> Option<Arrival> {
        let end = self.end;
        self.next.take().inspect(|_| {
            self.next = self.arrivals.next().filter(|next| next.intended_start < end);
        })
    }
}

/// N users, each either ready from an instant on or waiting for an answer.
#[derive(Clone, Debug)]
struct ClosedSource {
    ready: BinaryHeap<Reverse<(Timestamp, u32)>>,
    think_time: Nanos,
    end: Timestamp,
    remaining: u64,
    next_index: u64,
    stride: u64,
    last: Timestamp,
}

impl ClosedSource {
    fn new(model: &LoadModel, hand: Hand) -> ClosedSource {
        let LoadModel::Closed { users, think_time, horizon } = model else { unreachable!("a closed model") };
        let mine = hand.share_of(u64::from(*users)) as u32;
        ClosedSource {
            ready: (0..mine).map(|user| Reverse((Timestamp::ZERO, user))).collect(),
            think_time: *think_time,
            end: horizon.duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0)),
            remaining: horizon.requests.map_or(u64::MAX, |total| hand.share_of(total)),
            next_index: u64::from(hand.index),
            stride: u64::from(hand.of),
            last: Timestamp::ZERO,
        }
    }

    fn peek(&self) -> Option<Timestamp> {
        let Reverse((ready_at, _)) = self.ready.peek()?;
        (self.remaining > 0 && *ready_at < self.end).then_some(*ready_at)
    }

    fn pop(&mut self) -> Option<(Arrival, u32)> {
        let intended_start = self.peek()?;
        let Reverse((_, user)) = self.ready.pop()?;
        let arrival = Arrival { index: self.next_index, intended_start };
        self.next_index += self.stride;
        self.remaining = self.remaining.saturating_sub(1);
        self.last = intended_start;
        Some((arrival, user))
    }
}

/// Sessions on a schedule, and the follow-ups of those that are under way.
#[derive(Clone, Debug)]
struct PartlyOpenSource {
    sessions: OpenSource,
    /// Follow-ups that are due at an instant, with the session's slot.
    follow_ups: BinaryHeap<Reverse<(Timestamp, u32)>>,
    /// Requests that each running session still has before it, by slot.
    remaining: Vec<u32>,
    free_slots: Vec<u32>,
    requests_per_session: u32,
    think_time: Nanos,
    end: Timestamp,
    next_index: u64,
    stride: u64,
    last: Timestamp,
}

impl PartlyOpenSource {
    fn new(model: &LoadModel, hand: Hand) -> PartlyOpenSource {
        let LoadModel::PartlyOpen { sessions, requests_per_session, think_time } = model else {
            unreachable!("a partly open model")
        };
        PartlyOpenSource {
            sessions: OpenSource::new(sessions, hand),
            follow_ups: BinaryHeap::new(),
            remaining: Vec::new(),
            free_slots: Vec::new(),
            requests_per_session: *requests_per_session,
            think_time: *think_time,
            end: sessions.horizon.duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0)),
            next_index: u64::from(hand.index),
            stride: u64::from(hand.of),
            last: Timestamp::ZERO,
        }
    }

    fn next_follow_up(&self) -> Option<Timestamp> {
        self.follow_ups.peek().map(|Reverse((due, _))| *due).filter(|due| *due < self.end)
    }

    fn peek(&self) -> Option<Timestamp> {
        let session = self.sessions.next.map(|arrival| arrival.intended_start);
        [session, self.next_follow_up()].into_iter().flatten().min()
    }

    fn pop(&mut self) -> Option<(Arrival, u32)> {
        let intended_start = self.peek()?;
        let slot = if self.next_follow_up() == Some(intended_start) {
            self.follow_ups.pop()?.0.1
        } else {
            self.sessions.pop();
            self.open_session()
        };
        let arrival = Arrival { index: self.next_index, intended_start };
        self.next_index += self.stride;
        self.remaining[slot as usize] -= 1;
        self.last = self.last.max(intended_start);
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
            self.follow_ups.push(Reverse((ended + self.think_time, slot)));
        } else {
            self.free_slots.push(slot);
        }
    }

    fn end_at(&mut self, end: Timestamp) {
        self.end = self.end.min(end);
        self.sessions.end = self.end;
        self.sessions.next = self.sessions.next.filter(|next| next.intended_start < end);
    }
}
