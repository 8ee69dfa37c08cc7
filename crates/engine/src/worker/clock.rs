//! The time of one worker: its clock, its own pauses, and when what it reads had arrived.

use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::MonotonicClock;

use super::in_flight::Exchange;
use super::pause_detector::PauseDetector;
use crate::connection::timestamps::{ClockCorrelation, WallTime};
use crate::since::Since;

/// When a request ended: when its last byte had arrived, and when the worker had read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompletionTime {
    pub(super) arrived: Timestamp,
    pub(super) read: Timestamp,
    /// The two are known apart.
    pub(super) is_stamped: bool,
}

impl CompletionTime {
    /// Nobody knows when it arrived.
    pub(super) fn read_at(now: Timestamp) -> CompletionTime {
        CompletionTime { arrived: now, read: now, is_stamped: false }
    }
}

/// The time of one worker.
#[derive(Debug)]
pub(crate) struct WorkerClock {
    clock: MonotonicClock,
    pub(super) pauses: PauseDetector,
    pub(super) correlation: ClockCorrelation,
    /// All pauses until the worker last knew that nothing of what had come was left to read.
    paused_when_drained: Nanos,
    /// When the worker last woke.
    woke: Timestamp,
    /// What is read now came after this, or ended the worker's sleep.
    unread_since: Timestamp,
}

/// A wait that took so long was a sleep, and whatever ended it came just then.
const ASLEEP: Nanos = Nanos::from_micros(50);

impl WorkerClock {
    pub(super) fn new(clock: MonotonicClock, worker: u32) -> WorkerClock {
        WorkerClock {
            clock,
            pauses: PauseDetector::new(worker),
            correlation: ClockCorrelation::new(),
            paused_when_drained: Nanos::ZERO,
            woke: Timestamp::ZERO,
            unread_since: Timestamp::ZERO,
        }
    }

    /// The current instant, which the pause detector sees too.
    #[inline]
    pub(super) fn now(&mut self) -> Timestamp {
        let now = self.clock.now();
        self.pauses.awake(now);
        now
    }

    /// The run's clock.
    pub(super) fn monotonic(&self) -> &MonotonicClock {
        &self.clock
    }

    /// This instant, with all pauses of the worker so far.
    #[inline]
    pub(super) fn since(&self, instant: Timestamp) -> Since {
        Since { instant, paused: self.pauses.total() }
    }

    /// Nothing of what has come is left to read, when the worker had paused for so long.
    pub(super) fn drained(&mut self, paused: Nanos) {
        self.paused_when_drained = paused;
    }

    /// The worker waited from `from` to `to` for something to happen. `answers_wake`: an answer would have ended the wait.
    pub(super) fn waited(&mut self, from: Timestamp, to: Timestamp, answers_wake: bool) {
        let was_asleep = answers_wake && to.since(from) >= ASLEEP;
        self.unread_since = if was_asleep { to } else { self.woke };
        self.woke = to;
    }

    /// How long an answer may have lain unread that was noticed at `noticed`, at most.
    #[inline]
    pub(super) fn may_have_lain(&self, noticed: Timestamp) -> Nanos {
        noticed.since(self.unread_since)
    }

    /// The stamp on the run's clock, where it can be believed.
    #[inline]
    pub(super) fn instant_of(&mut self, stamp: Option<WallTime>, now: Timestamp) -> Option<Timestamp> {
        self.correlation.instant(&self.clock, stamp, Timestamp::ZERO, now)
    }

    /// Whether the stamp is certainly from before `instant`.
    pub(super) fn is_before(&mut self, stamp: Option<WallTime>, instant: Timestamp) -> bool {
        self.correlation.is_before(&self.clock, stamp, instant)
    }

    /// When something had arrived that was noticed at `now`, as far as the worker's own pauses tell. It was not there before
    /// the request was sent, nor when all was read that had come; had the worker run ever since, it would have noticed it
    /// so much earlier.
    pub(super) fn noticed(&self, exchange: &Exchange, now: Timestamp) -> CompletionTime {
        let before = self.paused_when_drained.max(exchange.started.paused);
        let paused = self.pauses.total().saturating_sub(before);
        let arrived = Timestamp(now.0.saturating_sub(paused.0)).max(exchange.started.instant);
        CompletionTime { arrived, read: now, is_stamped: !paused.is_zero() }
    }
}
