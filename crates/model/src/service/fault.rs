//! Faults of a service, on the fault clock: it starts at the first request, health checks apart, or at `POST /clock`.

use super::effect::{Action, AnswerChange, FaultEffect, Gate, StallSchedule};
use super::selector::Selector;
use crate::time::{Nanos, Timestamp};

/// Fault of a service.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// The gate is shut once; all waiting requests pass together when it opens.
    Stall {
        /// Start of the stall.
        at: Timestamp,
        /// Duration of the stall.
        length: Nanos,
        /// Gate that is shut.
        gate: Gate,
    },
    /// The gate is shut repeatedly.
    RecurringStall {
        /// Start of the first stall.
        first: Timestamp,
        /// Time from the start of one stall to the next; longer than `length`.
        every: Nanos,
        /// Duration of each stall.
        length: Nanos,
        /// Number of stalls; `None`: no end.
        times: Option<u64>,
        /// Gate that is shut.
        gate: Gate,
    },
    /// The baseline moves in a straight line to `target` and stays there.
    Ramp {
        /// Start of the ramp.
        from: Timestamp,
        /// End of the ramp; later than `from`.
        to: Timestamp,
        /// Baseline after the ramp.
        target: Nanos,
    },
    /// Every n-th request takes `pause` instead of the baseline.
    EveryNth {
        /// n: requests n, 2n, 3n …, counted from 1.
        every: u64,
        /// Processing time of these requests.
        pause: Nanos,
    },
    /// The answer has this status.
    ErrorStatus {
        /// 400 to 599.
        status: u16,
        /// The answer comes at once, without processing or queueing: a fast refusal.
        immediately: bool,
        /// Affected requests.
        select: Selector,
    },
    /// The connection is reset instead of an answer.
    Reset {
        /// Affected requests.
        select: Selector,
    },
    /// No answer ever comes, the connection stays open, and the request is not processed.
    BlackHole {
        /// Affected requests.
        select: Selector,
    },
    /// Head and half of the body leave when the request is processed, the other half after `over`.
    SlowBody {
        /// Time from the first half of the body to its end.
        over: Nanos,
        /// Affected requests.
        select: Selector,
    },
    /// The connection closes before the promised body is complete.
    ShortBody {
        /// Affected requests.
        select: Selector,
    },
    /// The answer is not HTTP.
    Garbage {
        /// Affected requests.
        select: Selector,
    },
}

/// Kind of fault, as truth logs name it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum FaultKind {
    Stall,
    RecurringStall,
    Ramp,
    EveryNth,
    ErrorStatus,
    Reset,
    BlackHole,
    SlowBody,
    ShortBody,
    Garbage,
    /// The request waited in the queue because `concurrency` others were being processed.
    Queue,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [FaultKind; 11] = [
        FaultKind::Stall,
        FaultKind::RecurringStall,
        FaultKind::Ramp,
        FaultKind::EveryNth,
        FaultKind::ErrorStatus,
        FaultKind::Reset,
        FaultKind::BlackHole,
        FaultKind::SlowBody,
        FaultKind::ShortBody,
        FaultKind::Garbage,
        FaultKind::Queue,
    ];

    /// Returns the name in scenario files and truth logs.
    pub const fn name(self) -> &'static str {
        match self {
            FaultKind::Stall => "stall",
            FaultKind::RecurringStall => "recurring-stall",
            FaultKind::Ramp => "ramp",
            FaultKind::EveryNth => "every-nth",
            FaultKind::ErrorStatus => "error-status",
            FaultKind::Reset => "reset",
            FaultKind::BlackHole => "black-hole",
            FaultKind::SlowBody => "slow-body",
            FaultKind::ShortBody => "short-body",
            FaultKind::Garbage => "garbage",
            FaultKind::Queue => "queue",
        }
    }
}

impl Fault {
    /// Returns the kind of the fault.
    pub const fn kind(&self) -> FaultKind {
        match self {
            Fault::Stall { .. } => FaultKind::Stall,
            Fault::RecurringStall { .. } => FaultKind::RecurringStall,
            Fault::Ramp { .. } => FaultKind::Ramp,
            Fault::EveryNth { .. } => FaultKind::EveryNth,
            Fault::ErrorStatus { .. } => FaultKind::ErrorStatus,
            Fault::Reset { .. } => FaultKind::Reset,
            Fault::BlackHole { .. } => FaultKind::BlackHole,
            Fault::SlowBody { .. } => FaultKind::SlowBody,
            Fault::ShortBody { .. } => FaultKind::ShortBody,
            Fault::Garbage { .. } => FaultKind::Garbage,
        }
    }

    /// Returns the effect of the fault.
    #[inline]
    pub const fn effect(&self) -> FaultEffect {
        match *self {
            Fault::Stall { at, length, gate } => {
                FaultEffect::Stall(StallSchedule { gate, first: at, every: Nanos::MAX, length, times: Some(1) })
            }
            Fault::RecurringStall { first, every, length, times, gate } => {
                FaultEffect::Stall(StallSchedule { gate, first, every, length, times })
            }
            Fault::Ramp { from, to, target } => FaultEffect::Ramp { from, to, target },
            Fault::EveryNth { every, pause } => FaultEffect::Pause { every, pause },
            Fault::ErrorStatus { status, immediately, select } => {
                let answer = Action::Answer { status };
                let change = if immediately { AnswerChange::AtOnce(answer) } else { AnswerChange::WhenDone(answer) };
                FaultEffect::Answer { select, change }
            }
            Fault::Reset { select } => FaultEffect::Answer { select, change: AnswerChange::WhenDone(Action::Reset) },
            Fault::BlackHole { select } => FaultEffect::Answer { select, change: AnswerChange::Never },
            Fault::SlowBody { over, select } => FaultEffect::Answer { select, change: AnswerChange::SlowBody(over) },
            Fault::ShortBody { select } => {
                FaultEffect::Answer { select, change: AnswerChange::WhenDone(Action::ShortBody) }
            }
            Fault::Garbage { select } => {
                FaultEffect::Answer { select, change: AnswerChange::WhenDone(Action::Garbage) }
            }
        }
    }

    /// Maps instants and lengths of the run, but not times of the service, such as the pause of [`Fault::EveryNth`].
    pub fn map_times(&mut self, instant: impl Fn(Timestamp) -> Timestamp, length: impl Fn(Nanos) -> Nanos) {
        match self {
            Fault::Stall { at, length: lasts, .. } => {
                *at = instant(*at);
                *lasts = length(*lasts);
            }
            Fault::RecurringStall { first, every, length: lasts, .. } => {
                *first = instant(*first);
                *lasts = length(*lasts);
                *every = length(*every).max(*lasts + Nanos(1));
            }
            Fault::Ramp { from, to, .. } => {
                *from = instant(*from);
                *to = instant(*to).max(*from + Nanos(1));
            }
            Fault::EveryNth { .. } => {}
            Fault::ErrorStatus { select, .. }
            | Fault::Reset { select }
            | Fault::BlackHole { select }
            | Fault::SlowBody { select, .. }
            | Fault::ShortBody { select }
            | Fault::Garbage { select } => select.map_times(instant, length),
        }
    }

    /// Returns the schedule of a stall; `None` for other faults.
    pub const fn stall_schedule(&self) -> Option<StallSchedule> {
        match self.effect() {
            FaultEffect::Stall(schedule) => Some(schedule),
            FaultEffect::Ramp { .. } | FaultEffect::Pause { .. } | FaultEffect::Answer { .. } => None,
        }
    }

    /// Returns the status in the changed answer; `None` if the fault sets no status.
    pub const fn status(&self) -> Option<u16> {
        match self.effect() {
            FaultEffect::Answer { change: AnswerChange::WhenDone(action) | AnswerChange::AtOnce(action), .. } => {
                action.status()
            }
            FaultEffect::Answer { change: AnswerChange::SlowBody(_) | AnswerChange::Never, .. }
            | FaultEffect::Stall(_)
            | FaultEffect::Ramp { .. }
            | FaultEffect::Pause { .. } => None,
        }
    }

    /// Returns the selected requests of a fault that changes answers; `None` for a fault that only delays them.
    pub const fn selector(&self) -> Option<Selector> {
        match self.effect() {
            FaultEffect::Answer { select, .. } => Some(select),
            FaultEffect::Stall(_) | FaultEffect::Ramp { .. } | FaultEffect::Pause { .. } => None,
        }
    }
}

/// Set of the faults that a request met.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FaultSet(u16);

impl FaultSet {
    /// The empty set.
    pub const NONE: FaultSet = FaultSet(0);

    /// Adds a kind.
    pub fn insert(&mut self, kind: FaultKind) {
        self.0 |= 1 << kind as u16;
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn union(self, other: FaultSet) -> FaultSet {
        FaultSet(self.0 | other.0)
    }

    /// Returns true if this kind is in the set.
    pub const fn contains(self, kind: FaultKind) -> bool {
        self.0 & (1 << kind as u16) != 0
    }

    /// Returns the kinds in the set.
    pub fn iter(self) -> impl Iterator<Item = FaultKind> {
        FaultKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}
