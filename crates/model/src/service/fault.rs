//! What can go wrong with a service. Instants are on the fault clock, which starts at the first request that is not a
//! health check, or at `POST /clock`.

use super::effect::{Action, AnswerChange, FaultEffect, Gate, StallSchedule};
use super::selector::Selector;
use crate::time::{Nanos, Timestamp};

/// One thing that goes wrong.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// The gate is shut once; everything that waited passes together when it opens.
    Stall {
        /// When it shuts.
        at: Timestamp,
        /// For how long.
        length: Nanos,
        /// Which gate.
        gate: Gate,
    },
    /// The gate is shut repeatedly.
    RecurringStall {
        /// When it shuts first.
        first: Timestamp,
        /// From the start of one stall to the start of the next; longer than `length`.
        every: Nanos,
        /// For how long each time.
        length: Nanos,
        /// How many times; `None`: forever.
        times: Option<u64>,
        /// Which gate.
        gate: Gate,
    },
    /// The baseline moves in a straight line to `target` and stays there.
    Ramp {
        /// When the ramp begins.
        from: Timestamp,
        /// When it ends; later than `from`.
        to: Timestamp,
        /// The baseline from then on.
        target: Nanos,
    },
    /// Every n-th request takes `pause` instead of the baseline.
    EveryNth {
        /// n: requests n, 2n, 3n …, counted from 1.
        every: u64,
        /// The processing time of these requests.
        pause: Nanos,
    },
    /// The answer has this status.
    ErrorStatus {
        /// 400 to 599.
        status: u16,
        /// The answer comes at once, without processing or queueing: a fast refusal.
        immediately: bool,
        /// Which requests.
        select: Selector,
    },
    /// The connection is reset instead of an answer.
    Reset {
        /// Which requests.
        select: Selector,
    },
    /// No answer ever comes, the connection stays open, and the request is not processed.
    BlackHole {
        /// Which requests.
        select: Selector,
    },
    /// Head and half of the body come when the request is processed, the other half after `over`.
    SlowBody {
        /// From the first half of the body to its end.
        over: Nanos,
        /// Which requests.
        select: Selector,
    },
    /// The connection closes before the promised body is complete.
    ShortBody {
        /// Which requests.
        select: Selector,
    },
    /// The answer is not HTTP.
    Garbage {
        /// Which requests.
        select: Selector,
    },
}

/// The kinds of fault, as a truth log names them.
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

    /// Its name in scenario files and truth logs.
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
    /// Its kind.
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

    /// What it does.
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

    /// Moves everything that lies on the time axis of the run: instants by `instant`, lengths by `length`. Times of the
    /// service itself, such as the pause of [`Fault::EveryNth`], stay as they are.
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

    /// When this fault stalls requests; `None` for a fault that is no stall.
    pub const fn stall_schedule(&self) -> Option<StallSchedule> {
        match self.effect() {
            FaultEffect::Stall(schedule) => Some(schedule),
            FaultEffect::Ramp { .. } | FaultEffect::Pause { .. } | FaultEffect::Answer { .. } => None,
        }
    }

    /// The status that it answers with; `None` if it answers with none of its own.
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

    /// Which requests it meets, where it decides the kind of answer; `None` for a fault that only moves answers in time.
    pub const fn selector(&self) -> Option<Selector> {
        match self.effect() {
            FaultEffect::Answer { select, .. } => Some(select),
            FaultEffect::Stall(_) | FaultEffect::Ramp { .. } | FaultEffect::Pause { .. } => None,
        }
    }
}

/// Which faults a request met.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FaultSet(u16);

impl FaultSet {
    /// None.
    pub const NONE: FaultSet = FaultSet(0);

    /// Adds a kind.
    pub fn insert(&mut self, kind: FaultKind) {
        self.0 |= 1 << kind as u16;
    }

    /// What was met in either.
    #[must_use]
    pub const fn and(self, other: FaultSet) -> FaultSet {
        FaultSet(self.0 | other.0)
    }

    /// Was this kind met?
    pub const fn contains(self, kind: FaultKind) -> bool {
        self.0 & (1 << kind as u16) != 0
    }

    /// Nothing was met.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The kinds that were met.
    pub fn iter(self) -> impl Iterator<Item = FaultKind> {
        FaultKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}
