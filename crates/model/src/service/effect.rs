//! Effects of faults. Faults of different kinds share a few effects, so most new faults need no new effect.

use super::selector::Selector;
use crate::time::{Nanos, Timestamp};

/// Effect of a fault.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FaultEffect {
    /// Holds requests at a gate.
    Stall(StallSchedule),
    /// Moves the baseline in a straight line from `from` to `to`, and keeps it at `target` afterwards.
    Ramp {
        /// Start of the line.
        from: Timestamp,
        /// End of the line.
        to: Timestamp,
        /// Baseline after the line.
        target: Nanos,
    },
    /// Replaces the work of every n-th request.
    Pause {
        /// n: requests n, 2n, 3n …, counted from 1.
        every: u64,
        /// Work of these requests.
        pause: Nanos,
    },
    /// Changes the answer to the selected requests.
    Answer {
        /// Affected requests.
        select: Selector,
        /// Change of their answer.
        change: AnswerChange,
    },
}

/// Difference from a whole answer with status 200 that comes once the work is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerChange {
    /// The action happens once the work is done.
    WhenDone(Action),
    /// The second half of the body leaves this long after the first.
    SlowBody(Nanos),
    /// The action happens on arrival: without gates, queue and work.
    AtOnce(Action),
    /// Nothing ever happens, and no work is done.
    Never,
}

/// Action of the service when a request is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// A whole answer with this status.
    Answer {
        /// 200, or the status of an error-status fault.
        status: u16,
    },
    /// Head and half of the body now, the rest at `until`.
    SlowBody {
        /// Instant when the last byte leaves.
        until: Timestamp,
    },
    /// A head that promises more than comes; then the connection is closed.
    ShortBody,
    /// Bytes that are not HTTP, then the connection is closed.
    Garbage,
    /// A TCP reset.
    Reset,
    /// No answer, ever.
    BlackHole,
}

impl Action {
    /// Returns true for a whole answer with status 200. If the service streams, its body is a stream.
    pub const fn is_good(self) -> bool {
        matches!(self, Action::Answer { status: 200 } | Action::SlowBody { .. })
    }

    /// Returns the status in the head that is sent; `None` without a head.
    pub const fn status(self) -> Option<u16> {
        match self {
            Action::Answer { status } => Some(status),
            Action::SlowBody { .. } | Action::ShortBody => Some(200),
            Action::Garbage | Action::Reset | Action::BlackHole => None,
        }
    }
}

/// Gate that holds requests during a stall.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Gate {
    /// At the exit: a request that finishes its work while the gate is shut leaves when the gate opens.
    #[default]
    Answers,
    /// At the entry: a request that arrives while the gate is shut begins its work (or joins its batch) when it opens.
    Arrivals,
    /// Inside the answers: no event of any stream leaves while the gate is shut. Later events keep the delay.
    Events,
}

impl Gate {
    /// Every gate.
    pub const ALL: [Gate; 3] = [Gate::Answers, Gate::Arrivals, Gate::Events];

    /// Returns the name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Gate::Answers => "answers",
            Gate::Arrivals => "arrivals",
            Gate::Events => "events",
        }
    }
}

/// Times when a gate is shut: first at `first`, then every `every`, for `length` each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StallSchedule {
    /// Gate that is shut.
    pub gate: Gate,
    /// Start of the first stall.
    pub first: Timestamp,
    /// Time from the start of one stall to the next, above zero.
    pub every: Nanos,
    /// Duration of each stall.
    pub length: Nanos,
    /// Number of stalls; `None`: no end.
    pub times: Option<u64>,
}

impl StallSchedule {
    /// Returns when gate `side` opens again, if this stall holds it shut at `instant`.
    pub(super) fn opens_at(&self, side: Gate, instant: Timestamp) -> Option<Timestamp> {
        if self.gate != side || instant < self.first {
            return None;
        }
        let round = instant.since(self.first).0 / self.every.0;
        let shut = Timestamp(self.first.0 + round * self.every.0);
        (self.times.is_none_or(|times| round < times) && instant < shut + self.length).then(|| shut + self.length)
    }
}

/// Maximum number of gates in a row, each shut when the one before opens; after them, nothing passes.
const MAX_GATES: usize = 100_000;

/// Returns when a request that reaches the gates at `instant` has passed all of them; [`Timestamp::NEVER`] if recurring
/// stalls leave no gap. `opens_at` returns when a gate that is shut at an instant opens.
pub(super) fn pass_gates(
    mut instant: Timestamp,
    mut opens_at: impl FnMut(Timestamp) -> Option<Timestamp>,
) -> Timestamp {
    // A gate may open on another shut gate, so look again until all are open.
    for _ in 0..MAX_GATES {
        let Some(opens) = opens_at(instant) else { return instant };
        instant = opens;
    }
    Timestamp::NEVER
}
