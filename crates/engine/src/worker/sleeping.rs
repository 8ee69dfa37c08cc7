//! Sleeps of a worker between two requests, and what may wake it.

use std::io;
use std::thread;

use truetail_model::driver::Driver;
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_model::workload::LoadModelKind;
use truetail_reactor::{Reactor, ReadinessEvents as Reports};
use truetail_run::{Ticks, Timing};

use super::clock::WorkerClock;
use super::lookout::Lookout;
use super::oversleep::OversleepEstimator;
use super::pace::Pace;
use crate::host;

/// Shortest time that is worth a sleep. A sleep costs about 20 µs of processor time and ends late.
const WORTH_SLEEPING: Nanos = Nanos::from_micros(10);
/// Longest sleep, so that a worker that was not allowed to run notices it soon.
const LONGEST_SLEEP: Nanos = Nanos::from_millis(20);
/// Longest sleep in `auto` that answers do not end.
const LONGEST_DEAF_SLEEP: Nanos = Nanos::from_millis(1);
/// Usual time from an answer to the wake-up of a worker that waits for it, unless its sleeps end later.
const WAKES_WITHIN: Nanos = Nanos::from_micros(30);
/// Stamps that are younger than this are not checked for a retransmission, so a time may lack up to this much.
const RETRANSMITTED_WITHIN: Nanos = Nanos::from_millis(1);
/// After an end without a stamp, answers wake the worker for this long. More such ends are likely, and only the worker
/// can tell when they arrive.
const WATCHFUL_FOR: Nanos = Nanos::from_secs(1);

/// Returns the latest end of a sleep that begins at `now`: [`LONGEST_SLEEP`] later, or up to half of it less. Many
/// sleeps in a row therefore share one instant, and the timer need not be set for each.
pub(super) fn latest_wake_up(now: Timestamp) -> Timestamp {
    let step = LONGEST_SLEEP.0 / 2;
    Timestamp((now.0 / step + 2) * step)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Wait<'a> {
    pub(super) reactor: &'a Reactor,
    pub(super) driver: &'a Driver,
    pub(super) now: Timestamp,
    pub(super) until: Timestamp,
    /// True if a request is in flight.
    pub(super) awaits_answer: bool,
    /// True if a connection is being opened, or has not taken all bytes to send. Progress there must end the wait,
    /// because measured times depend on when the worker notices it.
    pub(super) is_watched: bool,
    /// True if a connection carries several requests. Of their answers, only the last would be stamped.
    pub(super) is_crowded: bool,
}

/// Properties of a worker that a [`Sleeper`] needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct SleepSettings {
    pub(super) timing: Timing,
    /// The load model. `auto` sends in ticks only in open models: closed loops have no schedule, and in partly open
    /// models an answer may make the next request due.
    pub(super) model: LoadModelKind,
    /// True if the kernel stamps each answer, so that answers may lie unread. This requires connections on which little
    /// but answers arrives, because the kernel stamps only the last bytes of a read.
    pub(super) stamps_each: bool,
    /// True if this machine has more processors than the run has workers. If all look for answers, one is still left
    /// for a server on the same machine.
    pub(super) leaves_a_processor: bool,
}

/// Sleeps of a worker until requests are due.
#[derive(Debug)]
pub(super) struct Sleeper {
    settings: SleepSettings,
    oversleep: OversleepEstimator,
    pace: Pace,
    lookout: Lookout,
    /// In ticks: nothing is sent before this instant, if something wakes the worker between two ticks.
    next_tick: Option<Timestamp>,
    /// True if any event would have ended the last wait, and none had come before it.
    was_woken: bool,
    /// In ticks: true if the last wait for a permit saw no answer.
    waited_in_vain: bool,
    /// Until this instant answers wake the worker, in every timing.
    watchful_until: Timestamp,
    /// True if no request was started since the worker last looked for answers.
    pub(super) has_polled: bool,
}

impl Sleeper {
    pub(super) fn new(habits: SleepSettings) -> Sleeper {
        let oversleep = match habits.timing {
            Timing::Precise => OversleepEstimator::rare(Nanos(Timing::SPIN_NS)),
            Timing::Balanced | Timing::Auto | Timing::Cheap => OversleepEstimator::typical(),
        };
        let watchful_until = Timestamp::ZERO;
        Sleeper {
            settings: habits,
            oversleep,
            pace: Pace::new(),
            lookout: Lookout::default(),
            next_tick: None,
            was_woken: false,
            waited_in_vain: false,
            watchful_until,
            has_polled: false,
        }
    }

    /// Returns a sleeper with the same settings that knows of no instant.
    pub(super) fn fresh(&self) -> Sleeper {
        Sleeper::new(self.settings)
    }

    /// Returns true if requests are sent when they are due, rather than in ticks or when their user is ready.
    #[inline]
    pub(super) fn is_on_time(&self) -> bool {
        self.settings.model != LoadModelKind::Closed
            && match self.settings.timing {
                Timing::Precise | Timing::Balanced => true,
                Timing::Auto => self.pace.tick().is_zero(),
                Timing::Cheap => false,
            }
    }

    #[inline]
    pub(super) fn count_start(&mut self, intended: Timestamp) {
        if self.settings.timing == Timing::Auto && self.settings.model == LoadModelKind::Open {
            self.pace.count_start(intended);
        }
    }

    pub(super) fn sent_in_ticks(&self) -> Option<Ticks> {
        self.pace.sent_in_ticks()
    }

    /// Returns the tick before which nothing is sent, if there is one.
    #[inline]
    pub(super) fn pending_tick(&self) -> Option<Timestamp> {
        self.next_tick
    }

    /// Returns the instant to send what is due, if the next arrival is due at `until` or none is. In `auto` this is a
    /// tick later, unless an answer may make a request due before.
    pub(super) fn tick_after(&mut self, until: Timestamp, driver: &Driver, now: Timestamp) -> Timestamp {
        let tick = self.pace.tick();
        if tick.is_zero() || until.since(now) > LONGEST_SLEEP || driver.awaits_completion(now) {
            if self.settings.timing == Timing::Auto {
                self.next_tick = None;
            }
            return until;
        }
        self.next_tick = Some(until + tick);
        until + tick
    }

    /// Returns the usual time from an event to the end of the last wait; `None`: it may have come before.
    pub(super) fn woken_within(&self) -> Option<Nanos> {
        self.was_woken.then(|| self.oversleep.estimate().max(WAKES_WITHIN))
    }

    /// Records that at `now` an end was noticed whose arrival is unknown.
    pub(super) fn note_unstamped_end(&mut self, now: Timestamp) {
        self.watchful_until = now + WATCHFUL_FOR;
    }

    /// Returns the age below which stamps need not be checked for a retransmission. If answers are read in ticks, most
    /// stamps are up to a tick old, and checking all of them would cost over 1 % more.
    pub(super) fn unchecked_age(&self) -> Nanos {
        let waits = match self.settings.timing {
            Timing::Cheap if self.settings.stamps_each => Nanos(Timing::TICK_NS),
            Timing::Precise | Timing::Balanced | Timing::Auto | Timing::Cheap => Nanos::ZERO,
        };
        RETRANSMITTED_WITHIN + waits
    }

    /// Returns true if no event ends this wait. Answers may lie unread until then, because the kernel stamps them.
    pub(super) fn is_deaf(&self, wait: &Wait<'_>) -> bool {
        let is_needed = wait.is_watched || wait.is_crowded || wait.now < self.watchful_until;
        self.settings.stamps_each
            && !is_needed
            && match self.settings.timing {
                Timing::Precise | Timing::Balanced => false,
                Timing::Auto => {
                    !self.pace.answers_may_wake()
                        && wait.until.since(wait.now) <= LONGEST_DEAF_SLEEP
                        && !wait.driver.awaits_completion(wait.now)
                }
                Timing::Cheap => true,
            }
    }

    /// Returns true if the worker looks for an answer rather than sleeps, because each makes a request due.
    fn looks_for_answers(&mut self, awaits_answer: bool, now: Timestamp) -> bool {
        if !awaits_answer {
            self.lookout.abandon();
            return false;
        }
        self.settings.model == LoadModelKind::Closed
            && match self.settings.timing {
                Timing::Precise => true,
                Timing::Balanced | Timing::Auto => self.settings.leaves_a_processor && self.lookout.looks(now),
                Timing::Cheap => false,
            }
    }

    pub(super) fn sleep(&mut self, wait: &Wait<'_>, reports: &mut Reports, clock: &mut WorkerClock) -> io::Result<()> {
        self.was_woken = false;
        match self.settings.timing {
            Timing::Precise | Timing::Balanced | Timing::Auto => self.sleep_short_of(wait, reports, clock),
            Timing::Cheap => self.sleep_in_ticks(wait, reports, clock),
        }
    }

    fn sleep_in_ticks(&mut self, wait: &Wait<'_>, reports: &mut Reports, clock: &mut WorkerClock) -> io::Result<()> {
        let Wait { reactor, driver, now, until, .. } = *wait;
        if until <= now {
            return reactor.wait(reports, Some(Nanos::ZERO));
        }
        // The request has waited for its tick. If it waited for a permit until another tick, each permit would serve
        // only one request per tick.
        if driver.waits_for_permit(now) {
            // Permits are usually free soon, and the next wait is for the tick. Waiting for it now saves setting the
            // timer.
            let until = if self.waited_in_vain { until } else { until.min(tick(true, now, until)) };
            clock.pauses.mark_sleeping(until);
            self.next_tick = None;
            self.was_woken = reactor.wait_until(reports, clock.monotonic(), until)?;
            self.waited_in_vain = reports.is_empty();
            return Ok(());
        }
        let wake = tick(driver.awaits_completion(now), now, until);
        clock.pauses.mark_sleeping(wake);
        if self.is_deaf(wait) {
            thread::sleep(wake.since(now).into());
            return reactor.wait(reports, Some(Nanos::ZERO));
        }
        self.next_tick = Some(wake);
        self.was_woken = reactor.wait_until(reports, clock.monotonic(), wake)?;
        Ok(())
    }

    /// Wakes up earlier than the end of the wait, by the time that sleeps end late. The worker spends the rest awake.
    fn sleep_short_of(&mut self, wait: &Wait<'_>, reports: &mut Reports, clock: &mut WorkerClock) -> io::Result<()> {
        let reactor = wait.reactor;
        let asleep = wait.until.since(wait.now).saturating_sub(self.oversleep.estimate());
        let is_short = asleep < WORTH_SLEEPING;
        let looks = self.looks_for_answers(wait.awaits_answer && !is_short, wait.now);
        if looks || is_short {
            clock.pauses.mark_sleeping(if looks { wait.now + asleep } else { wait.now });
            if looks {
                // The server may need this processor. That the worker gives it away is no pause.
                thread::yield_now();
            }
            reactor.wait(reports, Some(Nanos::ZERO))?;
            if looks && !reports.is_empty() {
                self.lookout.found(clock.monotonic().now());
            }
            return Ok(());
        }
        let wake = wait.now + asleep;
        let is_deaf = self.is_deaf(wait);
        clock.pauses.mark_sleeping(wake);
        let measured_from =
            (self.settings.timing == Timing::Auto && self.pace.should_measure()).then(host::thread_cpu_time);
        if is_deaf {
            thread::sleep(asleep.into());
        } else {
            self.was_woken = reactor.wait_until(reports, clock.monotonic(), wake)?;
        }
        // A sleep that an answer ended costs less, so it is not measured.
        if is_deaf || reports.is_empty() {
            if let Some(before) = measured_from {
                self.pace.add_cost(host::thread_cpu_time().saturating_sub(before));
            }
            let woke = clock.monotonic().now();
            // A signal may have ended the sleep early.
            if woke >= wake {
                self.oversleep.note(woke.since(wake));
            }
        }
        if is_deaf { reactor.wait(reports, Some(Nanos::ZERO)) } else { Ok(()) }
    }
}

/// Returns the tick for sending what is due at `until`. Answers do not wake the worker, because the kernel stamps their
/// arrival. If something waits for an answer, this is the next tick after `now`.
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
    fn a_worker_looks_for_answers_only_in_a_closed_loop() {
        use LoadModelKind::{Closed, Open};
        use Timing::{Auto, Balanced, Cheap, Precise};
        let later = Timestamp(1_000_000);
        let looks_with = |leaves_a_processor, timing, model, awaits_answer| {
            let settings = SleepSettings { timing, model, stamps_each: true, leaves_a_processor };
            let mut sleeper = Sleeper::new(settings);
            [Timestamp::ZERO, later].map(|now| sleeper.looks_for_answers(awaits_answer, now))
        };
        let looks = |timing, model, awaits_answer| looks_with(true, timing, model, awaits_answer);
        assert_eq!(looks(Precise, Closed, true), [true, true]);
        assert_eq!([Auto, Balanced].map(|timing| looks(timing, Closed, true)), [[true, false]; 2]);
        assert_eq!(looks(Cheap, Closed, true), [false, false]);
        for timing in [Auto, Balanced, Precise] {
            assert_eq!(looks(timing, Closed, false), [false, false], "users think");
            assert_eq!(looks(timing, Open, true), [false, false], "the next request has its time");
            let alone = looks_with(false, timing, Closed, true);
            assert_eq!(alone, [timing == Precise; 2], "the workers would look on every processor");
        }
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
