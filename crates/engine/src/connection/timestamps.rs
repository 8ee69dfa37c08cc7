//! Arrival times of answers as the kernel saw them, rather than the time when a worker read them.
//!
//! The kernel stamps each segment with the wall clock, and a run uses the monotonic clock. Paired readings of both
//! clocks convert one into the other, and show when the wall clock was set.

use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::{MonotonicClock, unix_ns};

pub(crate) use truetail_reactor::{WallTime, stamps::*};

/// Compares the clocks once after each sleep, rather than for each stamp. This saves three clock readings per stamp, of
/// 47 ns each when last measured (`clock_reading_ns` in run.json).
const ONCE_A_WAKE_UP: bool = true;
/// Longest time between the two readings of a pair. If it is longer, something came between them.
const PAIR_WITHIN: Nanos = Nanos::from_micros(5);
/// Limit on the attempts at a pair whose readings were interrupted.
const TRIES: u32 = 4;
/// Difference in nanoseconds that shows a step of the clock: several times the possible difference of two pairs. Linux
/// steers both clocks alike, so only a step moves them further apart. Without a step between, two instants of different
/// clocks that are this far apart are certainly in order.
const STEP_THRESHOLD_NS: u64 = 4 * PAIR_WITHIN.0;

/// The offset between wall clock and monotonic clock when they were last compared.
#[derive(Debug)]
pub(crate) struct ClockCorrelation {
    /// Wall time of the run's origin.
    origin: Option<u64>,
    /// The wall clock was set since the previous pair, so stamps from before and after cannot be told apart.
    doubtful: bool,
    steps: u64,
    /// The worker has slept since the last pair.
    stale: bool,
}

impl ClockCorrelation {
    pub(crate) fn new() -> ClockCorrelation {
        ClockCorrelation { origin: None, doubtful: false, steps: 0, stale: true }
    }

    /// Makes the next conversion read the clocks again. Must be called each time the worker wakes. Without a stamp to
    /// convert, the clocks are not read.
    #[inline]
    pub(crate) fn mark_stale(&mut self) {
        self.stale = true;
    }

    /// Converts a stamp like [`ClockCorrelation::convert`], after comparing the clocks if the worker has slept.
    #[inline]
    pub(crate) fn instant(
        &mut self,
        clock: &MonotonicClock,
        stamp: Option<WallTime>,
        earliest: Timestamp,
        now: Timestamp,
    ) -> Option<Timestamp> {
        if (self.stale || !ONCE_A_WAKE_UP) && stamp.is_some() {
            self.refresh(clock);
        }
        self.convert(stamp, earliest, now)
    }

    /// Returns the wall time of the run's origin, after comparing the clocks if the worker has slept; `None` if the
    /// wall clock was set.
    pub(crate) fn origin(&mut self, clock: &MonotonicClock) -> Option<u64> {
        if self.stale || !ONCE_A_WAKE_UP {
            self.refresh(clock);
        }
        self.origin.filter(|_| !self.doubtful)
    }

    /// Returns how often the wall clock was set.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Compares the clocks. Returns false if every attempt was interrupted.
    fn refresh(&mut self, clock: &MonotonicClock) -> bool {
        self.stale = false;
        for _ in 0..TRIES {
            let before = clock.now();
            let wall = unix_ns();
            let after = clock.now();
            if after.since(before) <= PAIR_WITHIN {
                self.set_pair(wall, before + Nanos(after.since(before).0 / 2));
                return true;
            }
        }
        false
    }

    fn set_pair(&mut self, wall: u64, monotonic: Timestamp) {
        let origin = wall.wrapping_sub(monotonic.0);
        self.doubtful = self.origin.is_some_and(|before| before.abs_diff(origin) > STEP_THRESHOLD_NS);
        self.steps += u64::from(self.doubtful);
        self.origin = Some(origin);
    }

    /// Converts the stamp to the run's clock. Returns `None` if the result is implausible: before `earliest`, when it
    /// was requested, or after `now`.
    fn convert(&self, stamp: Option<WallTime>, earliest: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let origin = self.origin.filter(|_| !self.doubtful)?;
        let instant = Timestamp(stamp?.0.checked_sub(origin)?);
        (instant >= earliest && instant <= now).then_some(instant)
    }

    /// Returns true if the stamp is certainly from before `instant`. Compares the clocks again, because setting one
    /// could make it seem so. Returns false if they cannot be compared.
    pub(crate) fn is_before(&mut self, clock: &MonotonicClock, stamp: Option<WallTime>, instant: Timestamp) -> bool {
        let (Some(WallTime(stamp)), Some(origin)) = (stamp, self.origin.filter(|_| !self.doubtful)) else {
            return false;
        };
        let is_before = |origin: u64| stamp.saturating_add(STEP_THRESHOLD_NS) < origin.saturating_add(instant.0);
        if !is_before(origin) {
            return false;
        }
        self.refresh(clock) && !self.doubtful && self.origin.is_some_and(is_before)
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::time::NANOS_PER_SECOND;

    use super::*;

    #[test]
    fn stamps_that_cannot_be_are_not_believed() {
        let earliest = Timestamp(1_000);
        let now = Timestamp(2_000);
        let mut correlation = ClockCorrelation::new();
        assert_eq!(correlation.convert(Some(WallTime(1_500)), earliest, now), None, "no pair yet");
        correlation.set_pair(1_000_000, Timestamp(0));
        let convert = |correlation: &ClockCorrelation, wall| correlation.convert(Some(WallTime(wall)), earliest, now);
        assert_eq!(convert(&correlation, 1_001_500), Some(Timestamp(1_500)));
        assert_eq!(convert(&correlation, 1_000_999), None, "before it was asked for");
        assert_eq!(convert(&correlation, 1_002_001), None, "in the future");
        assert_eq!(convert(&correlation, 5), None, "before the origin");
        assert_eq!(correlation.convert(None, earliest, now), None);
        correlation.set_pair(3_600_000_000_000, Timestamp(0));
        assert_eq!((convert(&correlation, 1_001_500), correlation.steps()), (None, 1), "the clock was set");
        let clock = MonotonicClock::starting_now();
        assert!(!correlation.is_before(&clock, Some(WallTime(5)), now), "nobody knows, as long as the clock was set");
        correlation.set_pair(3_600_000_000_100, Timestamp(100));
        assert_eq!(convert(&correlation, 3_600_000_001_500), Some(Timestamp(1_500)), "and is believed again");
    }

    #[test]
    fn what_is_before_an_instant_is_so_by_both_clocks() {
        let clock = MonotonicClock::starting_now();
        let stamp = WallTime(unix_ns());
        let instant = clock.now();
        let later = Timestamp(instant.0 + 10 * NANOS_PER_SECOND);
        let mut correlation = ClockCorrelation::new();
        assert!(!correlation.is_before(&clock, Some(stamp), later), "no pair yet");
        while correlation.origin.is_none() {
            correlation.refresh(&clock);
        }
        assert!(correlation.is_before(&clock, Some(stamp), later));
        assert!(
            !correlation.is_before(&clock, Some(stamp), Timestamp::ZERO) && !correlation.is_before(&clock, None, later)
        );
        // By a pair from before the clock was set, everything would seem to be long ago.
        correlation.origin = correlation.origin.map(|origin| origin + 60 * NANOS_PER_SECOND);
        assert!(!correlation.is_before(&clock, Some(stamp), instant));
    }

    /// The clock is set forward by 0.9 ms after the stamp. By the new offset, an answer seems older than its request.
    #[test]
    fn a_small_step_makes_no_answer_early() {
        const STEP: u64 = 900_000;
        let clock = MonotonicClock::starting_now();
        let mut correlation = ClockCorrelation::new();
        while !correlation.refresh(&clock) {}
        correlation.origin = correlation.origin.map(|origin| origin - STEP);
        let sent = clock.now();
        let stamp = Some(WallTime(unix_ns() - STEP));
        while !correlation.refresh(&clock) {}
        assert!(!correlation.is_before(&clock, stamp, sent));
        assert_eq!(correlation.convert(stamp, Timestamp::ZERO, clock.now()), None);
        assert_eq!(correlation.steps(), 1);
    }
}
