//! What faults do. Faults of different names act through the same few effects, so that most new faults need no new one.

use super::selector::Selector;
use crate::time::{Nanos, Timestamp};

/// What a fault does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FaultEffect {
    /// Holds requests at a gate.
    Stall(StallSchedule),
    /// Moves the baseline in a straight line from `from` to `to`, and keeps it at `target` afterwards.
    Ramp {
        /// Where the line begins.
        from: Timestamp,
        /// Where it ends.
        to: Timestamp,
        /// The baseline from then on.
        target: Nanos,
    },
    /// Replaces the work of every n-th request.
    Pause {
        /// n: requests n, 2n, 3n …, counted from 1.
        every: u64,
        /// The work of these requests.
        pause: Nanos,
    },
    /// Changes the answer to the selected requests.
    Answer {
        /// Which requests.
        select: Selector,
        /// How their answer differs.
        change: AnswerChange,
    },
}

/// How the answer to a request differs from a whole answer with status 200 once its work is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerChange {
    /// This happens once the work is done.
    WhenDone(Action),
    /// The second half of the body leaves this much after the first.
    SlowBody(Nanos),
    /// This happens on arrival: without gates, queue and work.
    AtOnce(Action),
    /// Nothing ever happens, and nothing is worked on.
    Never,
}

/// What the service does when a request's time has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// A whole answer with this status.
    Answer {
        /// 200, or what an error-status fault says.
        status: u16,
    },
    /// Head and half of the body now, the rest at this instant.
    SlowBody {
        /// When the last byte leaves.
        until: Timestamp,
    },
    /// The head promises more than comes, then the connection is closed.
    ShortBody,
    /// Bytes that are not HTTP, then the connection is closed.
    Garbage,
    /// A TCP reset.
    Reset,
    /// Nothing, ever.
    BlackHole,
}

impl Action {
    /// True for a whole answer with status 200: where the service streams, its body is a stream.
    pub const fn is_good(self) -> bool {
        matches!(self, Action::Answer { status: 200 } | Action::SlowBody { .. })
    }

    /// The status in the head that is sent; `None` if none is.
    pub const fn status(self) -> Option<u16> {
        match self {
            Action::Answer { status } => Some(status),
            Action::SlowBody { .. } | Action::ShortBody => Some(200),
            Action::Garbage | Action::Reset | Action::BlackHole => None,
        }
    }
}

/// Where a stall holds requests.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Gate {
    /// At the way out: a request takes its work, and if the gate is shut when it is done it leaves when the gate opens.
    #[default]
    Answers,
    /// At the way in: a request that arrives while the gate is shut begins its work when the gate opens. In a batch nobody
    /// begins meanwhile.
    Arrivals,
    /// Inside the answers: no event of any stream leaves, and what follows it is as much later.
    Events,
}

impl Gate {
    /// Every gate.
    pub const ALL: [Gate; 3] = [Gate::Answers, Gate::Arrivals, Gate::Events];

    /// Its name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Gate::Answers => "answers",
            Gate::Arrivals => "arrivals",
            Gate::Events => "events",
        }
    }
}

/// When a gate is shut: `times` times for `length` each, the first time at `first`, then every `every`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StallSchedule {
    /// Where requests are held.
    pub gate: Gate,
    /// When the gate shuts first.
    pub first: Timestamp,
    /// From one shutting to the next, above zero.
    pub every: Nanos,
    /// For how long it is shut each time.
    pub length: Nanos,
    /// How many times it shuts; `None`: forever.
    pub times: Option<u64>,
}

impl StallSchedule {
    /// When the gate on side `side` opens again, if this stall holds it shut at `instant`.
    pub(super) fn opens_at(&self, side: Gate, instant: Timestamp) -> Option<Timestamp> {
        if self.gate != side || instant < self.first {
            return None;
        }
        let round = instant.since(self.first).0 / self.every.0;
        let shut = Timestamp(self.first.0 + round * self.every.0);
        (self.times.is_none_or(|times| round < times) && instant < shut + self.length).then(|| shut + self.length)
    }
}

/// After so many openings that each led to another shut gate, there is no way through.
const MAX_GATES: usize = 100_000;

/// When a request that reaches gates at `instant` is through all of them, where `opens_at` says when one that is shut at
/// an instant opens; [`Timestamp::NEVER`] where recurring stalls take turns and leave no gap.
pub(super) fn pass_gates(
    mut instant: Timestamp,
    mut opens_at: impl FnMut(Timestamp) -> Option<Timestamp>,
) -> Timestamp {
    // A gate that opens may lead to another that is shut by then, so look again until none is.
    for _ in 0..MAX_GATES {
        let Some(opens) = opens_at(instant) else { return instant };
        instant = opens;
    }
    Timestamp::NEVER
}
