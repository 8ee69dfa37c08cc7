//! Between two requests: how long a worker sleeps, and what may wake it.

use std::io;
use std::thread;

use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::Events;
use truetail_run::Timing;

use super::Worker;

/// A sleep takes some 20 µs of the processor, however short it is, and ends late: for less than this it is dearer than to wait
/// awake.
const WORTH_SLEEPING: Nanos = Nanos::from_micros(10);
/// Longest sleep, so that a worker that was not allowed to run notices it soon.
const LONGEST_SLEEP: Nanos = Nanos::from_millis(20);

/// When a sleep that begins at `now` ends at the latest: after [`LONGEST_SLEEP`] or up to half of it earlier, so that it is the
/// same instant for many sleeps in a row and the timer needs not be set for each.
pub(super) fn longest_from(now: Timestamp) -> Timestamp {
    let step = LONGEST_SLEEP.0 / 2;
    Timestamp((now.0 / step + 2) * step)
}

impl Worker {
    /// Sleeps at `now` until `until` at the latest, and takes up what has happened.
    pub(super) fn sleep(&mut self, events: &mut Events, now: Timestamp, until: Timestamp) -> io::Result<()> {
        let left = until.since(now);
        match self.setting.timing {
            Timing::Balanced | Timing::Precise => {
                let early = self.lateness.estimate();
                // The rest is waited for awake.
                let asleep =
                    Some(left.saturating_sub(early)).filter(|asleep| *asleep >= WORTH_SLEEPING).unwrap_or_default();
                let wake = now + asleep;
                self.watch.sleeping(wake);
                if asleep.is_zero() {
                    return self.reactor.wait(events, Some(asleep));
                }
                self.reactor.wait_until(events, &self.setting.clock, wake)?;
                if events.is_empty() {
                    let woke = self.setting.clock.now();
                    // A signal may have ended it before.
                    if woke >= wake {
                        self.lateness.note(woke.since(wake));
                    }
                }
                Ok(())
            }
            Timing::Cheap if left.is_zero() => self.reactor.wait(events, Some(left)),
            // It has waited for its tick. Were its place to wait for another, so many requests a tick were the most there are.
            Timing::Cheap if self.setting.driver.waits_for_permit(now) => {
                // Places free soon, as a rule, and the next wait is for the tick: to wait for it now spares setting the timer.
                let until = if self.waited_in_vain { until } else { until.min(tick(true, now, until)) };
                self.watch.sleeping(until);
                self.next_tick = Timestamp::ZERO;
                self.reactor.wait_until(events, &self.setting.clock, until)?;
                self.waited_in_vain = events.is_empty();
                Ok(())
            }
            Timing::Cheap => {
                let wake = tick(self.setting.driver.awaits_completion(now), now, until);
                self.watch.sleeping(wake);
                if self.setting.reads_in_ticks() {
                    thread::sleep(wake.since(now).into());
                    return self.reactor.wait(events, Some(Nanos::ZERO));
                }
                self.next_tick = wake;
                self.reactor.wait_until(events, &self.setting.clock, wake)
            }
        }
    }
}

/// The tick at which what is due at `until` is done. Answers wake nobody: the kernel has said when they came. Where something
/// waits for one, each tick after `now` looks after them.
fn tick(awaits_completion: bool, now: Timestamp, until: Timestamp) -> Timestamp {
    let tick = |instant: Timestamp| Timestamp(instant.0.div_ceil(Timing::TICK_NS) * Timing::TICK_NS);
    if awaits_completion { tick(Timestamp(now.0 + 1)) } else { tick(until) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_in_a_row_have_one_longest_instant() {
        let ms = Nanos::from_millis(1).0;
        for now in [0, 1, 9 * ms, 10 * ms - 1, 10 * ms, 123_456_789] {
            let left = longest_from(Timestamp(now)).0 - now;
            assert!(left > LONGEST_SLEEP.0 / 2 && left <= LONGEST_SLEEP.0, "{now}: {left}");
        }
        assert_eq!(longest_from(Timestamp(0)), longest_from(Timestamp(10 * ms - 1)));
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
