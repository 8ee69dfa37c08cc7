//! Start of a run.

use truetail_model::driver::Driver;
use truetail_model::time::{Nanos, Timestamp};
use truetail_reactor::{MonotonicClock, unix_ns};
use truetail_run::StartFacts;

/// Time from the call to the first intended start, to get every worker ready.
const LEAD: Nanos = Nanos::from_millis(20);

/// The clock of a run, and the start of sending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) clock: MonotonicClock,
    /// The origin, or a later instant if a run with a given origin was not ready in time.
    pub(crate) begins: Timestamp,
    at_unix_ns: Option<u64>,
}

impl Start {
    /// Returns a start as soon as the run can be ready, or at an instant of the wall clock. If the run cannot be ready
    /// by then, it begins late and its schedule does not move.
    pub(crate) fn at(instant_unix_ns: Option<u64>) -> Start {
        let Some(at) = instant_unix_ns else {
            return Start::with(MonotonicClock::starting_in(LEAD));
        };
        let ready = unix_ns().saturating_add(LEAD.0);
        let begins = Timestamp(ready.saturating_sub(at));
        Start { clock: MonotonicClock::with_origin_at(at), begins, at_unix_ns: Some(at) }
    }

    pub(crate) fn with(clock: MonotonicClock) -> Start {
        Start { clock, begins: Timestamp::ZERO, at_unix_ns: None }
    }

    /// Leaves out of each schedule the arrivals that are due before the run begins.
    pub(crate) fn skip_missed<'a>(&self, drivers: impl Iterator<Item = &'a mut Driver>) {
        if self.begins > Timestamp::ZERO {
            drivers.for_each(|driver| driver.begin_at(self.begins));
        }
    }

    /// Returns the report about the start. `missed` is the number of arrivals that were due before the run began.
    pub(crate) fn facts(&self, missed: u64) -> Option<StartFacts> {
        self.at_unix_ns.map(|at_unix_ns| StartFacts { at_unix_ns, late_ns: self.begins.0, missed })
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::time::Clock;

    use super::*;

    #[test]
    fn a_run_that_is_late_does_not_move_its_schedule() {
        const LATE: u64 = 5_000_000_000;
        let asked = unix_ns() - LATE;
        let start = Start::at(Some(asked));
        assert!(start.begins.0 >= LATE + LEAD.0, "{start:?}");
        assert!(start.clock.now().0 >= LATE && start.clock.origin_unix_ns() == asked, "{start:?}");
        assert_eq!(start.facts(7), Some(StartFacts { at_unix_ns: asked, late_ns: start.begins.0, missed: 7 }));
    }

    #[test]
    fn a_run_that_is_early_waits() {
        let asked = unix_ns() + 3_600_000_000_000;
        let start = Start::at(Some(asked));
        assert_eq!((start.begins, start.clock.now()), (Timestamp::ZERO, Timestamp::ZERO));
        assert_eq!(start.facts(0), Some(StartFacts { at_unix_ns: asked, late_ns: 0, missed: 0 }));
        assert_eq!(Start::at(None).facts(0), None);
    }
}
