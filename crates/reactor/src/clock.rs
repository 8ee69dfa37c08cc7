//! The clock of a run: the only place that asks the system what time it is.

use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};
use truetail_model::time::{Clock, NANOS_PER_SECOND, Nanos, Timestamp};

/// Monotonic nanoseconds since an origin.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    /// The origin in nanoseconds of the system's monotonic clock, whose zero is long ago.
    origin_ns: u64,
    origin_unix: SystemTime,
}

impl MonotonicClock {
    /// A clock whose origin is `lead` from now, so that everything can be made ready first. Until then it reads zero.
    pub fn starting_in(lead: Nanos) -> MonotonicClock {
        MonotonicClock { origin_ns: monotonic_ns() + lead.0, origin_unix: SystemTime::now() + Duration::from(lead) }
    }

    /// A clock whose origin is `instant`, nanoseconds since 1970 UTC, as the wall clock stands now. Where that is over, the
    /// clock reads how long ago it was.
    pub fn with_origin_at(instant: u64) -> MonotonicClock {
        let (now, unix_ns) = (monotonic_ns(), unix_ns());
        // The zero of the system's clock is when it started: nothing began before.
        let origin_ns = now.saturating_add(instant).saturating_sub(unix_ns);
        MonotonicClock { origin_ns, origin_unix: SystemTime::UNIX_EPOCH + Duration::from_nanos(instant) }
    }

    /// A clock whose origin is now.
    pub fn starting_now() -> MonotonicClock {
        MonotonicClock::starting_in(Nanos::ZERO)
    }

    /// The same clock with its origin at `instant` of this one.
    pub fn rebased(&self, instant: Timestamp) -> MonotonicClock {
        let lead = instant.since_origin();
        MonotonicClock { origin_ns: self.origin_ns + lead.0, origin_unix: self.origin_unix + Duration::from(lead) }
    }

    /// The origin in nanoseconds since 1970 UTC, as the wall clock stood when this clock was made.
    pub fn origin_unix_ns(&self) -> u64 {
        let since = self.origin_unix.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Nanos::from(since).0
    }

    /// `instant` in nanoseconds of the system's monotonic clock.
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

/// The system's monotonic clock as one number, which is cheaper than an instant of the standard library: the clock is read
/// several times a request.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NANOS_PER_SECOND + now.tv_nsec as u64
}

/// The wall clock in nanoseconds since 1970 UTC.
pub fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos::from(since).0
}

/// How long one reading of the clock takes on this machine, in nanoseconds: the median over [`READINGS`] pairs of readings,
/// one right after the other. It is about 20 where programs can read the kernel's clock themselves (vDSO), and about a
/// thousand where each reading is a system call.
pub fn clock_reading_ns() -> u64 {
    let gap = |_| {
        let first = monotonic_ns();
        monotonic_ns() - first
    };
    let mut gaps: Vec<u64> = (0..READINGS).map(gap).collect();
    gaps.sort_unstable();
    gaps[READINGS / 2]
}

/// Pairs of readings in [`clock_reading_ns`]: together less than a millisecond, and enough for a median that no pause moves.
const READINGS: usize = 501;

/// Asks the system not to delay timed sleeps of this thread in order to batch them with others (Linux: timer slack of 1 ns
/// instead of 50 µs). Where this is not possible, sleeps are less precise and nothing else changes.
pub fn minimize_timer_slack() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(Some(std::num::NonZeroU64::MIN));
}
