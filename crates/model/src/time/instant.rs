//! Instants on the clock of a run.

use std::ops::{Add, Sub};

use super::duration::{NANOS_PER_SECOND, Nanos};

/// An instant on the clock of one run: nanoseconds since the run's origin. Arithmetic saturates.
///
/// The origin is the intended start of a schedule that begins at once, so an intended start is never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Timestamp(pub u64);

/// Source of instants. Implementations live outside this crate: the model never reads a clock.
pub trait Clock {
    /// Returns the current instant, which never goes back.
    fn now(&self) -> Timestamp;
}

impl Timestamp {
    /// The origin of the run.
    pub const ZERO: Timestamp = Timestamp(0);
    /// An instant that is never reached.
    pub const NEVER: Timestamp = Timestamp(u64::MAX);

    /// Returns the time from `earlier` to `self`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Timestamp) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// Returns the time since the origin.
    pub const fn since_origin(self) -> Nanos {
        Nanos(self.0)
    }

    /// Returns the number of the second that contains this instant, counted from 0.
    pub const fn second(self) -> usize {
        (self.0 / NANOS_PER_SECOND) as usize
    }

    /// Returns the seconds since the origin.
    pub fn as_secs_f64(self) -> f64 {
        self.since_origin().as_secs_f64()
    }
}

impl Add<Nanos> for Timestamp {
    type Output = Timestamp;
    fn add(self, n: Nanos) -> Timestamp {
        Timestamp(self.0.saturating_add(n.0))
    }
}

impl Sub for Timestamp {
    type Output = Nanos;
    fn sub(self, earlier: Timestamp) -> Nanos {
        self.since(earlier)
    }
}
