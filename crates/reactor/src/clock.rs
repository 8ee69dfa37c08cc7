//! The monotonic clock of a run, and the only code that asks the system for the time.

use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};
use truetail_model::time::{Clock, NANOS_PER_SECOND, Nanos, Timestamp};

/// A clock that counts monotonic nanoseconds from an origin.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    /// The origin in nanoseconds of the system's monotonic clock. Negative if the machine was started after it.
    origin_ns: i64,
    origin_unix: SystemTime,
}

impl MonotonicClock {
    /// Returns a clock whose origin is `lead` from now, to leave time for preparations. Until then it reads zero.
    pub fn starting_in(lead: Nanos) -> MonotonicClock {
        let origin_ns = signed(monotonic_ns().saturating_add(lead.0));
        MonotonicClock { origin_ns, origin_unix: SystemTime::now() + Duration::from(lead) }
    }

    /// Returns a clock whose origin is `instant`, in nanoseconds since 1970 UTC by the current wall clock. If `instant`
    /// has passed, the clock reads the time since then.
    pub fn with_origin_at(instant: u64) -> MonotonicClock {
        let now = signed(monotonic_ns());
        let unix_ns = signed(unix_ns());
        let origin_ns = now.saturating_add(signed(instant).saturating_sub(unix_ns));
        MonotonicClock { origin_ns, origin_unix: SystemTime::UNIX_EPOCH + Duration::from_nanos(instant) }
    }

    /// Returns a clock whose origin is now.
    pub fn starting_now() -> MonotonicClock {
        MonotonicClock::starting_in(Nanos::ZERO)
    }

    /// Returns this clock with its origin moved to `instant`.
    pub fn rebased(&self, instant: Timestamp) -> MonotonicClock {
        let lead = instant.since_origin();
        let origin_ns = self.origin_ns.saturating_add(signed(lead.0));
        MonotonicClock { origin_ns, origin_unix: self.origin_unix + Duration::from(lead) }
    }

    /// Returns the origin in nanoseconds since 1970 UTC, by the wall clock at the time when this clock was made.
    pub fn origin_unix_ns(&self) -> u64 {
        let since = self.origin_unix.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Nanos::from(since).0
    }

    /// Converts `instant` to nanoseconds of the system's monotonic clock.
    pub(crate) fn to_monotonic_ns(self, instant: Timestamp) -> u64 {
        if instant == Timestamp::NEVER { u64::MAX } else { instant.0.saturating_add_signed(self.origin_ns) }
    }

    /// Returns the time until the origin; zero if it has passed.
    pub fn until_origin(&self) -> Nanos {
        let left = self.origin_ns.saturating_sub(signed(monotonic_ns()));
        Nanos(u64::try_from(left).unwrap_or(0))
    }

    /// Sleeps until the origin.
    pub fn wait_for_origin(&self) {
        loop {
            let left = self.until_origin();
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.into());
        }
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp((monotonic_ns().cast_signed() - self.origin_ns).max(0).cast_unsigned())
    }
}

/// Converts nanoseconds to a signed number, which is enough for 292 years.
fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// Reads the system's monotonic clock, in nanoseconds. One number is cheaper than a standard library `Instant`, and the
/// clock is read several times per request.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NANOS_PER_SECOND + now.tv_nsec as u64
}

/// A wall-clock instant in nanoseconds since 1970 UTC, as the kernel stamps arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WallTime(pub u64);

/// Returns the wall clock in nanoseconds since 1970 UTC.
pub fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos::from(since).0
}

/// Measures how long one clock reading takes on this machine, in nanoseconds: the median over [`READINGS`] pairs of
/// consecutive readings. It is about 20 if programs can read the kernel's clock directly (vDSO), and about 1,000 if
/// each reading is a system call.
pub fn clock_reading_ns() -> u64 {
    let gap = |_| {
        let first = monotonic_ns();
        monotonic_ns() - first
    };
    let mut gaps: Vec<u64> = (0..READINGS).map(gap).collect();
    gaps.sort_unstable();
    gaps[READINGS / 2]
}

/// Pairs of readings in [`clock_reading_ns`]. They take under 1 ms, and no pause shifts their median.
const READINGS: usize = 501;

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine may have been started after the origin of a run that it is late for.
    #[test]
    fn an_origin_may_be_before_the_start_of_the_machine() {
        let asked = unix_ns() - monotonic_ns() - 3_600_000_000_000;
        let clock = MonotonicClock::with_origin_at(asked);
        let before = unix_ns() - asked;
        let now = clock.now();
        // The wall clock may be slewed meanwhile, so the two agree within a second.
        assert!(now.0.abs_diff(before) < NANOS_PER_SECOND, "{now:?} {before}");
        clock.wait_for_origin();
        assert_eq!(clock.until_origin(), Nanos::ZERO);
        let later = now + Nanos::from_millis(5);
        assert!(clock.to_monotonic_ns(later).abs_diff(monotonic_ns()) < NANOS_PER_SECOND);
        assert_eq!(clock.to_monotonic_ns(Timestamp::NEVER), u64::MAX);
        assert_eq!(clock.rebased(later).now().0 / NANOS_PER_SECOND, 0);
    }
}
