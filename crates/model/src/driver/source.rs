//! The arrivals of one worker, by load model.

use super::closed::ClosedArrivals;
use super::scheduled::{LoadOrder, OpenArrivals};
use super::sessions::PartlyOpenArrivals;
use super::share::WorkerShare;
use crate::arrival::{Arrival, ArrivalBlock};
use crate::record::SessionPlace;
use crate::time::{Nanos, Timestamp};
use crate::workload::LoadModel;

/// Returns the end of the load. The drain counts from it.
pub(super) fn load_end(model: &LoadModel) -> Timestamp {
    let by_time = model.horizon().duration.map_or(Timestamp::NEVER, |duration| Timestamp(duration.0));
    match model {
        LoadModel::Open(schedule) if schedule.horizon.requests.is_some() => {
            let last = schedule.last_arrival().map(|last| last.intended_start);
            by_time.min(last.map_or(Timestamp::ZERO, |last| last + Nanos(1)))
        }
        // In the other models a count does not determine the end: requests may follow after the last session began.
        LoadModel::Open(_) | LoadModel::PartlyOpen { .. } | LoadModel::Closed { .. } => by_time,
    }
}

#[derive(Clone, Debug)]
pub(super) enum ArrivalSource {
    Open(OpenArrivals),
    Closed(ClosedArrivals),
    PartlyOpen(PartlyOpenArrivals),
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

    pub(super) fn peek(&self) -> Option<Timestamp> {
        match self {
            ArrivalSource::Open(source) => source.peek(),
            ArrivalSource::Closed(source) => source.peek(),
            ArrivalSource::PartlyOpen(source) => source.peek(),
            ArrivalSource::Idle => None,
        }
    }

    pub(super) fn place(&self) -> Option<LoadOrder> {
        match self {
            ArrivalSource::Open(source) => source.place(),
            ArrivalSource::Closed(source) => source.place(),
            ArrivalSource::PartlyOpen(source) => source.place(),
            ArrivalSource::Idle => None,
        }
    }

    /// Skips and returns what is due before `at`. Users of the closed model begin at `at` instead and miss
    /// nothing.
    pub(super) fn skip_to(&mut self, at: Timestamp) -> ArrivalSource {
        let mut missed = self.clone();
        missed.end_at(at);
        match self {
            ArrivalSource::Open(source) => source.skip_to(at),
            ArrivalSource::Closed(source) => source.begin_at(at),
            ArrivalSource::PartlyOpen(source) => source.skip_to(at),
            ArrivalSource::Idle => {}
        }
        if matches!(missed, ArrivalSource::Closed(_)) { ArrivalSource::Idle } else { missed }
    }

    /// Takes from a schedule all arrivals that are due before a limit, as one block. `until` computes the limit from
    /// the next intended start. Returns `None` if nothing is due, and in the other models.
    pub(super) fn take_before(&mut self, until: impl Fn(Timestamp) -> Timestamp) -> Option<ArrivalBlock> {
        let ArrivalSource::Open(source) = self else { return None };
        source.take_before(until(source.peek()?))
    }

    pub(super) fn pop(&mut self) -> Option<(Arrival, u32)> {
        match self {
            ArrivalSource::Open(source) => source.pop().map(|arrival| (arrival, 0)),
            ArrivalSource::Closed(source) => source.pop(),
            ArrivalSource::PartlyOpen(source) => source.pop(),
            ArrivalSource::Idle => None,
        }
    }

    pub(super) fn next_session(&self) -> Option<Timestamp> {
        match self {
            ArrivalSource::PartlyOpen(source) => source.next_session(),
            ArrivalSource::Open(_) | ArrivalSource::Closed(_) | ArrivalSource::Idle => None,
        }
    }

    /// Returns the next due time in a running session, if known. Only the partly open model has one.
    pub(super) fn next_follow_up(&self) -> Option<Timestamp> {
        match self {
            ArrivalSource::PartlyOpen(source) => source.next_follow_up(),
            ArrivalSource::Open(_) | ArrivalSource::Closed(_) | ArrivalSource::Idle => None,
        }
    }

    /// Takes the next arrival that continues a session, even if a new session is due before it.
    pub(super) fn pop_follow_up(&mut self) -> Option<(Arrival, u32)> {
        match self {
            ArrivalSource::PartlyOpen(source) => source.pop_follow_up(),
            ArrivalSource::Open(_) | ArrivalSource::Closed(_) | ArrivalSource::Idle => None,
        }
    }

    /// Reports the end of a request of `user`. Returns true if nothing follows in its session.
    pub(super) fn on_completion(&mut self, user: u32, ended: Timestamp) -> bool {
        match self {
            ArrivalSource::Open(_) | ArrivalSource::Idle => false,
            ArrivalSource::Closed(source) => {
                source.on_completion(user, ended);
                false
            }
            ArrivalSource::PartlyOpen(source) => source.on_completion(user, ended),
        }
    }

    /// Returns true if the end of a request may be followed by another arrival.
    pub(super) fn depends_on_completions(&self) -> bool {
        matches!(self, ArrivalSource::Closed(_) | ArrivalSource::PartlyOpen(_))
    }

    pub(super) fn follow_script(&mut self) {
        if let ArrivalSource::PartlyOpen(source) = self {
            source.follow_script();
        }
    }

    /// Plans a further request of the session of `user`.
    pub(super) fn branch(&mut self, user: u32, at: Timestamp) {
        if let ArrivalSource::PartlyOpen(source) = self {
            source.branch(user, at);
        }
    }

    /// Continues the session of `user` at `next`, or ends it. Returns true if nothing follows in it.
    pub(super) fn continue_or_end(&mut self, user: u32, next: Option<Timestamp>) -> bool {
        match self {
            ArrivalSource::PartlyOpen(source) => source.continue_or_end(user, next),
            ArrivalSource::Open(_) | ArrivalSource::Closed(_) | ArrivalSource::Idle => false,
        }
    }

    pub(super) fn end_sessions_at(&mut self, end: Timestamp) {
        if let ArrivalSource::PartlyOpen(source) = self {
            source.end_sessions_at(end);
        }
    }

    pub(super) fn session_number(&self, user: u32) -> u64 {
        match self {
            ArrivalSource::PartlyOpen(source) => source.number_of(user),
            ArrivalSource::Open(_) | ArrivalSource::Closed(_) | ArrivalSource::Idle => 0,
        }
    }

    /// Returns the place of the latest request of `user` in its session.
    #[inline]
    pub(super) fn session_place(&self, user: u32) -> SessionPlace {
        match self {
            ArrivalSource::PartlyOpen(source) => source.place_of(user),
            ArrivalSource::Open(_) | ArrivalSource::Closed(_) | ArrivalSource::Idle => SessionPlace::NONE,
        }
    }

    pub(super) fn end_at(&mut self, end: Timestamp) {
        match self {
            ArrivalSource::Open(source) => source.end_at(end),
            ArrivalSource::Closed(source) => source.end_at(end),
            ArrivalSource::PartlyOpen(source) => source.end_at(end),
            ArrivalSource::Idle => {}
        }
    }

    /// Returns true if more arrivals would have come before `planned_end`. Valid once nothing is left to pop.
    pub(super) fn was_truncated(&self, planned_end: Timestamp) -> bool {
        let is_before = |due: Option<Timestamp>| due.is_some_and(|due| due < planned_end);
        match self {
            ArrivalSource::Open(source) => source.was_truncated(),
            ArrivalSource::Closed(source) => source.was_truncated(is_before),
            ArrivalSource::PartlyOpen(source) => source.was_truncated(is_before),
            ArrivalSource::Idle => false,
        }
    }

    /// Returns true if a count ends the arrivals and the last one was started: only then is the end known.
    pub(super) fn ends_with_last_start(&self) -> bool {
        match self {
            ArrivalSource::Closed(source) => source.all_started(),
            // Follow-ups may still come while sessions run, unless an instant ends them too.
            ArrivalSource::PartlyOpen(source) => source.has_no_end() && source.peek().is_none(),
            ArrivalSource::Open(_) | ArrivalSource::Idle => false,
        }
    }
}
