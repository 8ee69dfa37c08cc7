//! Between two requests: how long a worker sleeps, and what may wake it.

use std::io;
use std::thread;

use truetail_model::driver::Driver;
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_model::workload::LoadModelKind;
use truetail_reactor::{Reactor, ReadinessEvents as Reports};
use truetail_run::{Ticks, Timing};

use super::clock::WorkerClock;
use super::oversleep::OversleepEstimator;
use super::pace::Pace;
use crate::host;

/// A sleep takes some 20 µs of the processor, however short it is, and ends late: for less than this it is dearer than to
/// wait awake.
const WORTH_SLEEPING: Nanos = Nanos::from_micros(10);
/// Longest sleep, so that a worker that was not allowed to run notices it soon.
const LONGEST_SLEEP: Nanos = Nanos::from_millis(20);
/// Longest sleep from which no answer wakes the worker in `auto`.
const LONGEST_DEAF_SLEEP: Nanos = Nanos::from_millis(1);
/// A worker that waits for answers runs so soon after one has come, or as late as its sleeps end.
const WAKES_WITHIN: Nanos = Nanos::from_micros(30);
/// A retransmission that was faster than this is not looked for: so much may be missing of a time.
const RETRANSMITTED_WITHIN: Nanos = Nanos::from_millis(1);
/// After an end that bears no stamp, answers wake the worker for so long: where there was one there are others, and nobody but
/// the worker can say when they came.
const WATCHFUL_FOR: Nanos = Nanos::from_secs(1);

/// When a sleep that begins at `now` ends at the latest: after [`LONGEST_SLEEP`] or up to half of it earlier, so that it is the
/// same instant for many sleeps in a row and the timer needs not be set for each.
pub(super) fn latest_wake_up(now: Timestamp) -> Timestamp {
    let step = LONGEST_SLEEP.0 / 2;
    Timestamp((now.0 / step + 2) * step)
}

/// A wait that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait<'a> {
    pub(super) reactor: &'a Reactor,
    pub(super) driver: &'a Driver,
    /// When it begins.
    pub(super) now: Timestamp,
    /// When it ends at the latest.
    pub(super) until: Timestamp,
    /// A connection is being opened, or one has not taken all that is to be sent. Times depend on when the worker notices that
    /// it goes on, so that ends the wait.
    pub(super) is_watched: bool,
}

/// What a [`Sleeper`] is to know of its worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    pub(super) timing: Timing,
    /// Closed loops have no schedule, and in partly open ones an answer may make the next request due: `auto` sends in ticks
    /// in open ones alone.
    pub(super) model: LoadModelKind,
    /// Of each answer the kernel says when it came, so that it may lie unread: connections carry one request at a time, for of
    /// what is read together the kernel stamps the last only.
    pub(super) stamps_each: bool,
}

/// How a worker waits for what is due.
#[derive(Debug)]
pub(super) struct Sleeper {
    habits: Habits,
    oversleep: OversleepEstimator,
    pace: Pace,
    /// In ticks: nothing is sent before this instant, where something wakes the worker between two ticks.
    next_tick: Option<Timestamp>,
    /// Whatever came would have ended the last wait, and nothing had come before it.
    was_woken: bool,
    /// In ticks: the last wait for a permit saw no answer.
    waited_in_vain: bool,
    /// Until this instant answers wake the worker, whatever the timing.
    watchful_until: Timestamp,
}

impl Sleeper {
    pub(super) fn new(habits: Habits) -> Sleeper {
        let oversleep = match habits.timing {
            Timing::Precise => OversleepEstimator::rare(Nanos(Timing::SPIN_NS)),
            Timing::Balanced | Timing::Auto | Timing::Cheap => OversleepEstimator::typical(),
        };
        let watchful_until = Timestamp::ZERO;
        Sleeper {
            habits,
            oversleep,
            pace: Pace::new(),
            next_tick: None,
            was_woken: false,
            waited_in_vain: false,
            watchful_until,
        }
    }

    /// Requests go out when they are due, and not in ticks nor when their user is ready.
    #[inline]
    pub(super) fn is_on_time(&self) -> bool {
        self.habits.model != LoadModelKind::Closed
            && match self.habits.timing {
                Timing::Precise | Timing::Balanced => true,
                Timing::Auto => self.pace.tick().is_zero(),
                Timing::Cheap => false,
            }
    }

    /// A request begins that was due at `intended`.
    #[inline]
    pub(super) fn began(&mut self, intended: Timestamp) {
        if self.habits.timing == Timing::Auto && self.habits.model == LoadModelKind::Open {
            self.pace.began(intended);
        }
    }

    /// What `auto` sent in ticks.
    pub(super) fn sent_in_ticks(&self) -> Option<Ticks> {
        self.pace.sent_in_ticks()
    }

    /// The tick before which nothing is sent, where there is one.
    #[inline]
    pub(super) fn pending_tick(&self) -> Option<Timestamp> {
        self.next_tick
    }

    /// The next arrival is due at `until`, or nothing is: when the worker is to send what is due by then. In `auto` that is a
    /// tick later, unless an answer may make something due before.
    pub(super) fn tick_after(&mut self, until: Timestamp, driver: &Driver, now: Timestamp) -> Timestamp {
        let tick = self.pace.tick();
        if tick.is_zero() || until.since(now) > LONGEST_SLEEP || driver.awaits_completion(now) {
            if self.habits.timing == Timing::Auto {
                self.next_tick = None;
            }
            return until;
        }
        self.next_tick = Some(until + tick);
        until + tick
    }

    /// How soon what came during the last wait ended it, as a rule; `None`: it may have come before.
    pub(super) fn woken_within(&self) -> Option<Nanos> {
        self.was_woken.then(|| self.oversleep.estimate().max(WAKES_WITHIN))
    }

    /// An end was noticed at `now` of which nobody knows when it came.
    pub(super) fn end_was_unstamped(&mut self, now: Timestamp) {
        self.watchful_until = now + WATCHFUL_FOR;
    }

    /// Stamps younger than this need not be checked for a retransmission. Where answers are read in ticks they are older by
    /// up to a tick as a rule, and to check those would cost more than a hundredth of all.
    pub(super) fn unchecked_age(&self) -> Nanos {
        let waits = match self.habits.timing {
            Timing::Cheap if self.habits.stamps_each => Nanos(Timing::TICK_NS),
            Timing::Precise | Timing::Balanced | Timing::Auto | Timing::Cheap => Nanos::ZERO,
        };
        RETRANSMITTED_WITHIN + waits
    }

    /// Nothing that comes ends this wait: answers may lie unread until its end, because the kernel says when they came.
    pub(super) fn is_deaf(&self, wait: &Wait<'_>) -> bool {
        let is_needed = wait.is_watched || wait.now < self.watchful_until;
        self.habits.stamps_each
            && !is_needed
            && match self.habits.timing {
                Timing::Precise | Timing::Balanced => false,
                Timing::Auto => {
                    !self.pace.answers_may_wake()
                        && wait.until.since(wait.now) <= LONGEST_DEAF_SLEEP
                        && !wait.driver.awaits_completion(wait.now)
                }
                Timing::Cheap => true,
            }
    }

    /// Waits, and puts what has happened into `reports`.
    pub(super) fn sleep(&mut self, wait: &Wait<'_>, reports: &mut Reports, clock: &mut WorkerClock) -> io::Result<()> {
        self.was_woken = false;
        match self.habits.timing {
            Timing::Precise | Timing::Balanced | Timing::Auto => self.sleep_short_of(wait, reports, clock),
            Timing::Cheap => self.sleep_in_ticks(wait, reports, clock),
        }
    }

    fn sleep_in_ticks(&mut self, wait: &Wait<'_>, reports: &mut Reports, clock: &mut WorkerClock) -> io::Result<()> {
        let Wait { reactor, driver, now, until, .. } = *wait;
        if until <= now {
            return reactor.wait(reports, Some(Nanos::ZERO));
        }
        // It has waited for its tick. Were its permit to wait for another, the rate would be limited to one request a
        // permit and tick.
        if driver.waits_for_permit(now) {
            // Permits free soon, as a rule, and the next wait is for the tick: to wait for it now spares setting the timer.
            let until = if self.waited_in_vain { until } else { until.min(tick(true, now, until)) };
            clock.pauses.sleeping(until);
            self.next_tick = None;
            self.was_woken = reactor.wait_until(reports, clock.monotonic(), until)?;
            self.waited_in_vain = reports.is_empty();
            return Ok(());
        }
        let wake = tick(driver.awaits_completion(now), now, until);
        clock.pauses.sleeping(wake);
        if self.is_deaf(wait) {
            thread::sleep(wake.since(now).into());
            return reactor.wait(reports, Some(Nanos::ZERO));
        }
        self.next_tick = Some(wake);
        self.was_woken = reactor.wait_until(reports, clock.monotonic(), wake)?;
        Ok(())
    }

    /// Wakes as much before the end of the wait as sleeps end late; the rest is waited for awake.
    fn sleep_short_of(&mut self, wait: &Wait<'_>, reports: &mut Reports, clock: &mut WorkerClock) -> io::Result<()> {
        let reactor = wait.reactor;
        let asleep = wait.until.since(wait.now).saturating_sub(self.oversleep.estimate());
        if asleep < WORTH_SLEEPING {
            clock.pauses.sleeping(wait.now);
            return reactor.wait(reports, Some(Nanos::ZERO));
        }
        let (wake, is_deaf) = (wait.now + asleep, self.is_deaf(wait));
        clock.pauses.sleeping(wake);
        let measured_from = (self.habits.timing == Timing::Auto && self.pace.measures()).then(host::thread_cpu_time);
        if is_deaf {
            thread::sleep(asleep.into());
        } else {
            self.was_woken = reactor.wait_until(reports, clock.monotonic(), wake)?;
        }
        // What an answer ended is another matter: it costs less.
        if is_deaf || reports.is_empty() {
            if let Some(before) = measured_from {
                self.pace.measured(host::thread_cpu_time().saturating_sub(before));
            }
            let woke = clock.monotonic().now();
            // A signal may have ended it before.
            if woke >= wake {
                self.oversleep.note(woke.since(wake));
            }
        }
        if is_deaf { reactor.wait(reports, Some(Nanos::ZERO)) } else { Ok(()) }
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
