//! What can go wrong with a service. Instants are on the fault clock, which starts at the first request that is not a
//! health check, or when it is told to.

use crate::random::mix64;
use crate::time::{Nanos, Timestamp};

/// Where a stall holds requests.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Gate {
    /// At the way out: a request takes its work, and if the gate is shut when it is done it leaves when the gate opens.
    #[default]
    Answers,
    /// At the way in: a request that arrives while the gate is shut begins its work when the gate opens.
    Arrivals,
}

/// Which requests a fault meets: all, unless narrowed. Every condition that is given must hold.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Selector {
    /// Every n-th request: numbers n, 2n, 3n … (n ≥ 1), counted from 1.
    pub every: Option<u64>,
    /// A share in (0, 1] of all requests, drawn by a hash of seed and number, so that it never changes.
    pub share: Option<f64>,
    /// Only requests that arrive at or after this instant …
    pub at: Option<Timestamp>,
    /// … and, counted from `at` (or from the clock's start), before this much time has passed.
    pub length: Option<Nanos>,
}

impl Selector {
    /// Does this fault meet request `number` (from 1) that arrived at `arrived`?
    pub fn meets(&self, seed: u64, number: u64, arrived: Timestamp) -> bool {
        let from = self.at.unwrap_or(Timestamp::ZERO);
        self.every.is_none_or(|n| number.is_multiple_of(n))
            && self.share.is_none_or(|share| uniform(seed, number) < share)
            && arrived >= from
            && self.length.is_none_or(|length| arrived < from + length)
    }
}

/// A number in [0, 1) that belongs to this request for ever.
fn uniform(seed: u64, number: u64) -> f64 {
    (mix64(mix64(seed) ^ number) >> 11) as f64 / (1u64 << 53) as f64
}

/// One thing that goes wrong.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// The gate is shut once; all that waited leave together.
    Stall {
        /// When it shuts.
        at: Timestamp,
        /// For how long.
        length: Nanos,
        /// On which side.
        gate: Gate,
    },
    /// The gate is shut again and again.
    RecurringStall {
        /// When it shuts first.
        first: Timestamp,
        /// From one shutting to the next; longer than `length`.
        every: Nanos,
        /// For how long each time.
        length: Nanos,
        /// How many times; `None`: for ever.
        times: Option<u64>,
        /// On which side.
        gate: Gate,
    },
    /// The baseline moves in a straight line to `target` and stays there.
    Ramp {
        /// Where the line begins.
        from: Timestamp,
        /// Where it ends; later than `from`.
        to: Timestamp,
        /// The baseline from then on.
        target: Nanos,
    },
    /// The work of every n-th request takes `pause` in place of its baseline.
    EveryNth {
        /// n: requests n, 2n, 3n …, counted from 1.
        every: u64,
        /// The work of these requests.
        pause: Nanos,
    },
    /// The answer has this status.
    ErrorStatus {
        /// 400 to 599.
        status: u16,
        /// The answer comes at once, without work and without a place in the queue: a fast refusal.
        immediately: bool,
        /// Which requests.
        select: Selector,
    },
    /// The connection is reset in place of an answer.
    Reset {
        /// Which requests.
        select: Selector,
    },
    /// No answer ever comes; the connection stays open, and nothing is worked on.
    BlackHole {
        /// Which requests.
        select: Selector,
    },
    /// Head and half of the body come when the work is done, the other half after `over`.
    SlowBody {
        /// From the first half of the body to its end.
        over: Nanos,
        /// Which requests.
        select: Selector,
    },
    /// The head promises more body than comes; then the connection is closed.
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
    /// Waited for a place among the `concurrency` of the service.
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

    /// When the gate of this fault on side `side` opens again, if it is shut at `instant`.
    pub(super) fn opens_at(&self, side: Gate, instant: Timestamp) -> Option<Timestamp> {
        match *self {
            Fault::Stall { at, length, gate } if gate == side => {
                (instant >= at && instant < at + length).then(|| at + length)
            }
            Fault::RecurringStall { first, every, length, times, gate } if gate == side && instant >= first => {
                let round = instant.since(first).0 / every.0;
                let shut = Timestamp(first.0 + round * every.0);
                (times.is_none_or(|times| round < times) && instant < shut + length).then(|| shut + length)
            }
            _ => None,
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
