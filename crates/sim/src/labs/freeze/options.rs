//! Options of the freeze.

use truetail_model::service::{Fault, Gate, Service};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Rate, Timestamp};

use crate::labs::error::{LabError, above_zero, requests_in};

/// Nanoseconds in the unit of this lab.
pub(super) const NANOS_PER_MS: u64 = 1_000_000;

/// Options of the freeze. Times are whole milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreezeOptions {
    /// Time that a request takes.
    pub base: Nanos,
    /// Start of the freeze, from the start of the run.
    pub pause_start: Nanos,
    /// Duration of the freeze.
    pub pause_length: Nanos,
    /// No request is sent at or after this time.
    pub duration: Nanos,
    /// Time between two requests: the interval of the open loop, which the correction assumes too.
    pub expected_interval: Nanos,
    /// Length of a row of the interval files.
    pub snapshot_interval: Nanos,
    /// Number of users of the closed loop.
    pub users: u32,
}

impl Default for FreezeOptions {
    fn default() -> FreezeOptions {
        FreezeOptions {
            base: Nanos::from_millis(10),
            pause_start: Nanos::from_millis(2_500),
            pause_length: Nanos::from_millis(500),
            duration: Nanos::from_secs(5),
            expected_interval: Nanos::from_millis(10),
            snapshot_interval: Nanos::from_secs(1),
            users: 1,
        }
    }
}

impl FreezeOptions {
    /// Returns the service of this lab.
    pub fn service(&self) -> Service {
        let freeze =
            Fault::Stall { at: Timestamp(self.pause_start.0), length: self.pause_length, gate: Gate::Arrivals };
        Service { faults: vec![freeze], ..Service::healthy(self.base) }
    }

    /// Returns the times with their names on the command line.
    fn named(&self) -> [(&'static str, Nanos); 6] {
        [
            ("base", self.base),
            ("pause-start", self.pause_start),
            ("pause-length", self.pause_length),
            ("duration", self.duration),
            ("expected-interval", self.expected_interval),
            ("snapshot-interval", self.snapshot_interval),
        ]
    }

    /// Refuses values that are zero, not whole milliseconds, or too large.
    pub(super) fn check(&self) -> Result<(), LabError> {
        for (option, value) in self.named() {
            if option != "pause-start" && option != "pause-length" {
                above_zero(option, value.0)?;
            }
            if value.0 % NANOS_PER_MS != 0 {
                return Err(LabError::NotWholeMillis { option, value });
            }
        }
        above_zero("users", u64::from(self.users))?;
        requests_in(self.duration, self.open_rate().as_per_second())?;
        requests_in(self.duration, f64::from(self.users) / self.base.as_secs_f64())?;
        Ok(())
    }

    pub(super) fn open_rate(&self) -> Rate {
        let per_second = NANOS_PER_SECOND as f64 / self.expected_interval.0 as f64;
        Rate::per_second(per_second).expect("the interval was checked to be above zero")
    }
}
