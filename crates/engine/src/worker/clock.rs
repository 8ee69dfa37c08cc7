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
    /// It may have lain unread for so long before `arrived`, at most: where no stamp tells, nobody knows more than that it
    /// was not there when the worker looked before.
    pub(super) unread: Nanos,
}

impl CompletionTime {
    /// The worker ended it itself, at `now`.
    pub(super) fn read_at(now: Timestamp) -> CompletionTime {
        CompletionTime { arrived: now, read: now, is_stamped: false, unread: Nanos::ZERO }
    }

    /// The kernel stamped it.
    pub(super) fn stamped(arrived: Timestamp, read: Timestamp) -> CompletionTime {
        CompletionTime { arrived, read, is_stamped: true, unread: Nanos::ZERO }
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
    /// When it knew that.
    drained_at: Timestamp,
    /// Nothing of what is being dealt with had come before this instant.
    unread_since: Timestamp,
}

impl WorkerClock {
    pub(super) fn new(clock: MonotonicClock) -> WorkerClock {
        WorkerClock {
            clock,
            pauses: PauseDetector::new(),
            correlation: ClockCorrelation::new(),
            paused_when_drained: Nanos::ZERO,
            drained_at: Timestamp::ZERO,
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

    /// Nothing of what had come by `woke` is left to read, when the worker had paused for so long.
    pub(super) fn drained(&mut self, paused: Nanos, woke: Timestamp) {
        (self.paused_when_drained, self.drained_at) = (paused, woke);
    }

    /// The worker looks at what has come, at `woke`. `waited`: when it began to wait for that, where nothing had come before,
    /// and how soon it wakes, as a rule, when something comes.
    pub(super) fn looked(&mut self, woke: Timestamp, waited: Option<(Timestamp, Nanos)>) {
        self.unread_since = match waited {
            Some((began, within)) => Timestamp(woke.0.saturating_sub(within.0)).max(began),
            None => self.drained_at,
        };
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
        let unread = arrived.since(self.unread_since.max(exchange.started.instant));
        CompletionTime { arrived, read: now, is_stamped: !paused.is_zero(), unread }
    }
}
