//! Between two requests: how long a worker sleeps, and what may wake it.

use std::io;
use std::thread;

use truetail_model::driver::Driver;
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::{Reactor, ReadinessEvents as Reports};
use truetail_run::Timing;

use super::clock::WorkerClock;
use super::oversleep::OversleepEstimator;

/// A sleep takes some 20 µs of the processor, however short it is, and ends late: for less than this it is dearer than to
/// wait awake.
const WORTH_SLEEPING: Nanos = Nanos::from_micros(10);
/// Longest sleep, so that a worker that was not allowed to run notices it soon.
const LONGEST_SLEEP: Nanos = Nanos::from_millis(20);
/// A retransmission that was faster than this is not looked for: so much may be missing of a time.
const RETRANSMITTED_WITHIN: Nanos = Nanos::from_millis(1);

/// When a sleep that begins at `now` ends at the latest: after [`LONGEST_SLEEP`] or up to half of it earlier, so that it is the
/// same instant for many sleeps in a row and the timer needs not be set for each.
pub(super) fn latest_wake_up(now: Timestamp) -> Timestamp {
    let step = LONGEST_SLEEP.0 / 2;
    Timestamp((now.0 / step + 2) * step)
}

/// How a worker waits for what is due.
#[derive(Debug)]
pub(super) struct Sleeper {
    timing: Timing,
    /// Connections carry several requests at once.
    multiplexed: bool,
    oversleep: OversleepEstimator,
    /// In ticks: nothing is sent before this instant, where answers wake the worker between two ticks.
    next_tick: Option<Timestamp>,
    /// In ticks: the last wait for a permit saw no answer.
    waited_in_vain: bool,
}

impl Sleeper {
    pub(super) fn new(timing: Timing, multiplexed: bool) -> Sleeper {
        let oversleep = match timing {
            Timing::Precise => OversleepEstimator::rare(Nanos(Timing::SPIN_NS)),
            Timing::Balanced | Timing::Cheap => OversleepEstimator::typical(),
        };
        Sleeper { timing, multiplexed, oversleep, next_tick: None, waited_in_vain: false }
    }

    /// The tick before which nothing is sent, where there is one.
    #[inline]
    pub(super) fn pending_tick(&self) -> Option<Timestamp> {
        self.next_tick
    }

    /// Stamps younger than this need not be checked for a retransmission. Where answers are read in ticks they are older by
    /// up to a tick as a rule, and to check those would cost more than a hundredth of all.
    pub(super) fn unchecked_age(&self) -> Nanos {
        let waits = if self.reads_in_ticks() { Nanos(Timing::TICK_NS) } else { Nanos::ZERO };
        RETRANSMITTED_WITHIN + waits
    }

    /// Answers wait for the next tick to be read: nothing wakes the worker before it. Answers that share connections do wake
    /// it, because of what is read together the kernel stamps the last only.
    pub(super) fn reads_in_ticks(&self) -> bool {
        self.timing == Timing::Cheap && !self.multiplexed
    }

    /// Sleeps at `now` until `until` at the latest, and puts what has happened into `reports`.
    pub(super) fn sleep(
        &mut self,
        reactor: &Reactor,
        reports: &mut Reports,
        clock: &mut WorkerClock,
        driver: &Driver,
        now: Timestamp,
        until: Timestamp,
    ) -> io::Result<()> {
        let left = until.since(now);
        match self.timing {
            Timing::Balanced | Timing::Precise => self.sleep_short_of(until, reactor, reports, clock, now),
            Timing::Cheap if left.is_zero() => reactor.wait(reports, Some(left)),
            // It has waited for its tick. Were its permit to wait for another, the rate would be limited to one request a
            // permit and tick.
            Timing::Cheap if driver.waits_for_permit(now) => {
                // Permits free soon, as a rule, and the next wait is for the tick: to wait for it now spares setting the timer.
                let until = if self.waited_in_vain { until } else { until.min(tick(true, now, until)) };
                clock.pauses.sleeping(until);
                self.next_tick = None;
                reactor.wait_until(reports, clock.monotonic(), until)?;
                self.waited_in_vain = reports.is_empty();
                Ok(())
            }
            Timing::Cheap => {
                let wake = tick(driver.awaits_completion(now), now, until);
                clock.pauses.sleeping(wake);
                if self.reads_in_ticks() {
                    thread::sleep(wake.since(now).into());
                    return reactor.wait(reports, Some(Nanos::ZERO));
                }
                self.next_tick = Some(wake);
                reactor.wait_until(reports, clock.monotonic(), wake)
            }
        }
    }

    /// Wakes as much before `until` as sleeps end late; the rest is waited for awake.
    fn sleep_short_of(
        &mut self,
        until: Timestamp,
        reactor: &Reactor,
        reports: &mut Reports,
        clock: &mut WorkerClock,
        now: Timestamp,
    ) -> io::Result<()> {
        let asleep = until.since(now).saturating_sub(self.oversleep.estimate());
        if asleep < WORTH_SLEEPING {
            clock.pauses.sleeping(now);
            return reactor.wait(reports, Some(Nanos::ZERO));
        }
        let wake = now + asleep;
        clock.pauses.sleeping(wake);
        reactor.wait_until(reports, clock.monotonic(), wake)?;
        if reports.is_empty() {
            let woke = clock.monotonic().now();
            // A signal may have ended it before.
            if woke >= wake {
                self.oversleep.note(woke.since(wake));
            }
        }
        Ok(())
    }
}

/// The tick at which what is due at `until` is done. Answers wake nobody: the kernel has said when they came. Where something
/// waits for one, each tick after `now` looks for them.
fn tick(awaits_completion: bool, now: Timestamp, until: Timestamp) -> Timestamp {
    let tick = |instant: Timestamp| Timestamp(instant.0.div_ceil(Timing::TICK_NS) * Timing::TICK_NS);
    if awaits_completion { tick(Timestamp(now.0 + 1)) } else { tick(until) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_in_a_row_have_one_latest_wake_up() {
        let ms = Nanos::from_millis(1).0;
        for now in [0, 1, 9 * ms, 10 * ms - 1, 10 * ms, 123_456_789] {
            let left = latest_wake_up(Timestamp(now)).0 - now;
            assert!(left > LONGEST_SLEEP.0 / 2 && left <= LONGEST_SLEEP.0, "{now}: {left}");
        }
        assert_eq!(latest_wake_up(Timestamp(0)), latest_wake_up(Timestamp(10 * ms - 1)));
    }

    #[test]
    fn nothing_is_early_and_nothing_waits_longer_than_a_tick() {
        let ms = |ms: f64| Timestamp((ms * 1e6) as u64);
        for (until, wakes) in [(3.0, 3.0), (3.000_001, 4.0), (3.5, 4.0), (3.999_999, 4.0), (20.0, 20.0)] {
            assert_eq!(tick(false, ms(2.1), ms(until)), ms(wakes), "{until}");
            assert_eq!(tick(true, ms(2.1), ms(until)), ms(3.0), "something waits for an answer");
        }
        assert_eq!(tick(true, ms(2.0), ms(9.0)), ms(3.0), "time goes on");
    }
}
