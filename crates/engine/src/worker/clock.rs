//! The time of one worker: its clock, its own pauses, and the arrival times of what it reads.

use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::MonotonicClock;

use super::in_flight::Exchange;
use super::pause_detector::PauseDetector;
use crate::connection::timestamps::{ClockCorrelation, WallTime};
use crate::worker_instant::WorkerInstant;

/// End of a request: the time when its last byte had arrived, and the time when the worker had read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompletionTime {
    pub(super) arrived: Timestamp,
    pub(super) read: Timestamp,
    /// True if `arrived` is known separately from `read`.
    pub(super) is_stamped: bool,
    /// The end may have arrived up to this long before `arrived`. Without a stamp, the worker knows only that it had
    /// not arrived when the worker last looked.
    pub(super) unread: Nanos,
}

impl CompletionTime {
    /// Returns the time of an end that the worker decided itself at `now`, such as a timeout.
    pub(super) fn read_at(now: Timestamp) -> CompletionTime {
        CompletionTime { arrived: now, read: now, is_stamped: false, unread: Nanos::ZERO }
    }

    pub(super) fn stamped(arrived: Timestamp, read: Timestamp) -> CompletionTime {
        CompletionTime { arrived, read, is_stamped: true, unread: Nanos::ZERO }
    }
}

#[derive(Debug)]
pub(crate) struct WorkerClock {
    clock: MonotonicClock,
    pub(super) pauses: PauseDetector,
    pub(super) correlation: ClockCorrelation,
    /// Sum of all pauses until the worker last had nothing left to read.
    paused_when_drained: Nanos,
    /// Last instant when the worker had nothing left to read.
    drained_at: Timestamp,
    /// Earliest possible arrival of what the worker is now reading.
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

    /// Returns the current instant, and reports it to the pause detector.
    #[inline]
    pub(super) fn now(&mut self) -> Timestamp {
        let now = self.clock.now();
        self.pauses.mark_awake(now);
        now
    }

    pub(super) fn monotonic(&self) -> &MonotonicClock {
        &self.clock
    }

    /// Returns `instant` together with all pauses of the worker until now.
    #[inline]
    pub(super) fn since(&self, instant: Timestamp) -> WorkerInstant {
        WorkerInstant { instant, paused: self.pauses.total() }
    }

    /// Records that everything that had arrived by `woke` is read. `paused` is the sum of all pauses until then.
    pub(super) fn mark_drained(&mut self, paused: Nanos, woke: Timestamp) {
        (self.paused_when_drained, self.drained_at) = (paused, woke);
    }

    /// Records that the worker begins to read at `woke`. If it had waited before, `waited` holds the start of the wait
    /// and the usual time from an event to the wake-up.
    pub(super) fn begin_reading(&mut self, woke: Timestamp, waited: Option<(Timestamp, Nanos)>) {
        self.unread_since = match waited {
            Some((began, within)) => Timestamp(woke.0.saturating_sub(within.0)).max(began),
            None => self.drained_at,
        };
    }

    /// Converts the stamp to the run's clock; `None` if the stamp is implausible.
    #[inline]
    pub(super) fn instant_of(&mut self, stamp: Option<WallTime>, now: Timestamp) -> Option<Timestamp> {
        self.correlation.instant(&self.clock, stamp, Timestamp::ZERO, now)
    }

    /// Returns the wall time of the run's origin; `None` if the wall clock was set.
    pub(super) fn origin_unix_ns(&mut self) -> Option<u64> {
        self.correlation.origin(&self.clock)
    }

    pub(super) fn is_before(&mut self, stamp: Option<WallTime>, instant: Timestamp) -> bool {
        self.correlation.is_before(&self.clock, stamp, instant)
    }

    /// Estimates when something arrived that was noticed at `now`. It arrived neither before its request was sent, nor
    /// before the worker had last read everything. The worker's pauses since then are subtracted, because a running
    /// worker would have noticed it that much earlier.
    pub(super) fn estimate_completion(&self, exchange: &Exchange, now: Timestamp) -> CompletionTime {
        let before = self.paused_when_drained.max(exchange.started.paused);
        let paused = self.pauses.total().saturating_sub(before);
        let arrived = Timestamp(now.0.saturating_sub(paused.0)).max(exchange.started.instant);
        let unread = arrived.since(self.unread_since.max(exchange.started.instant));
        CompletionTime { arrived, read: now, is_stamped: !paused.is_zero(), unread }
    }
}
