//! The monotonic clock of a run, and the only code that asks the system for the time.

use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};
use truetail_model::time::{Clock, NANOS_PER_SECOND, Nanos, Timestamp};

/// A clock that counts monotonic nanoseconds from an origin.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    /// The origin in nanoseconds of the system's monotonic clock, whose zero is long ago.
    origin_ns: u64,
    origin_unix: SystemTime,
}

impl MonotonicClock {
    /// Returns a clock whose origin is `lead` from now, to leave time for preparations. Until then it reads zero.
    pub fn starting_in(lead: Nanos) -> MonotonicClock {
        MonotonicClock { origin_ns: monotonic_ns() + lead.0, origin_unix: SystemTime::now() + Duration::from(lead) }
    }

    /// Returns a clock whose origin is `instant`, in nanoseconds since 1970 UTC by the current wall clock. If `instant`
    /// has passed, the clock reads the time since then.
    pub fn with_origin_at(instant: u64) -> MonotonicClock {
        let now = monotonic_ns();
        let unix_ns = unix_ns();
        // The result is at least zero, because the system's clock counts from boot and no run began before that.
        let origin_ns = now.saturating_add(instant).saturating_sub(unix_ns);
        MonotonicClock { origin_ns, origin_unix: SystemTime::UNIX_EPOCH + Duration::from_nanos(instant) }
    }

    /// Returns a clock whose origin is now.
    pub fn starting_now() -> MonotonicClock {
        MonotonicClock::starting_in(Nanos::ZERO)
    }

    /// Returns this clock with its origin moved to `instant`.
    pub fn rebased(&self, instant: Timestamp) -> MonotonicClock {
        let lead = instant.since_origin();
        MonotonicClock { origin_ns: self.origin_ns + lead.0, origin_unix: self.origin_unix + Duration::from(lead) }
    }

    /// Returns the origin in nanoseconds since 1970 UTC, by the wall clock at the time when this clock was made.
    pub fn origin_unix_ns(&self) -> u64 {
        let since = self.origin_unix.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Nanos::from(since).0
    }

    /// Converts `instant` to nanoseconds of the system's monotonic clock.
    pub(crate) fn to_monotonic_ns(self, instant: Timestamp) -> u64 {
        self.origin_ns.saturating_add(instant.0)
    }

    /// Sleeps until the origin.
    pub fn wait_for_origin(&self) {
        while let Some(left) = self.origin_ns.checked_sub(monotonic_ns()).filter(|left| *left > 0) {
            std::thread::sleep(Duration::from_nanos(left));
        }
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp(monotonic_ns().saturating_sub(self.origin_ns))
    }
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
