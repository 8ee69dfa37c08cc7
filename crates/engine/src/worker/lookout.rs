//! Looking for answers before a sleep, in a closed loop.

use truetail_model::time::{Nanos, Timestamp};

/// Longest look before a sleep. A sleep costs some 20 µs of processor time and ends as late, so a look that finds
/// something is worth it, and one in vain costs little more than the sleep after it.
const LONGEST: Nanos = Nanos::from_micros(50);
/// A look that takes longer than this has lost the processor to another program.
const LOST: Nanos = Nanos::from_millis(1);
/// Limit on the waits in a row without a look.
const MAX_SKIPPED: u32 = 4096;

/// The choice between looking for answers and sleeping. Looks continue as long as they find something. After one in
/// vain the next waits begin with a sleep: one, and twice as many after each further look in vain. So looks are rare
/// where answers take long. Between looks the worker yields, because the server may need this processor. Any other
/// program that takes it then keeps it for milliseconds, so after such a look the most waits begin with a sleep.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Lookout {
    /// Beginning of the look, if there is one now.
    began: Option<Timestamp>,
    /// Waits that still begin without a look.
    skipped: u32,
    /// Number of waits that the last look in vain cost; 0 after a look that found something.
    penalty: u32,
}

impl Lookout {
    /// Returns true if the worker looks again at `now`, and false if it sleeps.
    #[inline]
    pub(super) fn looks(&mut self, now: Timestamp) -> bool {
        match self.began {
            Some(began) if now.since(began) < LONGEST => true,
            Some(began) => {
                self.end(now.since(began), false);
                false
            }
            None if self.skipped > 0 => {
                self.skipped -= 1;
                false
            }
            None => {
                self.began = Some(now);
                true
            }
        }
    }

    /// Records that the look found something by `now`.
    #[inline]
    pub(super) fn found(&mut self, now: Timestamp) {
        if let Some(began) = self.began {
            self.end(now.since(began), true);
        }
    }

    /// Ends a look, if there is one, that showed nothing: no answer is awaited any more, or a request is due.
    #[inline]
    pub(super) fn abandon(&mut self) {
        self.began = None;
    }

    fn end(&mut self, took: Nanos, has_found: bool) {
        self.penalty = match has_found {
            _ if took >= LOST => MAX_SKIPPED,
            true => 0,
            false => (2 * self.penalty).clamp(1, MAX_SKIPPED),
        };
        (self.began, self.skipped) = (None, self.penalty);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether each of `waits` waits begins with a look, if answers take this long. Each step of a look takes
    /// `step`.
    fn looks(lookout: &mut Lookout, waits: u32, answer: Nanos, step: Nanos) -> Vec<bool> {
        let mut now = Timestamp::ZERO;
        let mut one = || {
            let answered = now + answer;
            let begins_with_a_look = lookout.looks(now);
            let mut goes_on = begins_with_a_look;
            while goes_on {
                now = now + step;
                if now >= answered {
                    lookout.found(now);
                    break;
                }
                goes_on = lookout.looks(now);
            }
            now = now.max(answered);
            begins_with_a_look
        };
        (0..waits).map(|_| one()).collect()
    }

    fn count(waits: &[bool]) -> usize {
        waits.iter().filter(|looked| **looked).count()
    }

    const SOON: Nanos = Nanos::from_micros(30);
    const STEP: Nanos = Nanos::from_micros(1);

    #[test]
    fn looks_go_on_while_they_find_something_and_become_rare_when_they_do_not() {
        let mut lookout = Lookout::default();
        assert_eq!(looks(&mut lookout, 100, SOON, STEP), [true; 100]);
        let in_vain = looks(&mut lookout, 50_000, Nanos::from_millis(1), STEP);
        assert_eq!(in_vain[..10], [true, false, true, false, false, true, false, false, false, false]);
        let rare = count(&in_vain);
        assert!((20..30).contains(&rare), "{rare} instead of 13 for the first 8,000, and one in 4,097 then");
        let again = looks(&mut lookout, 5_000, SOON, STEP);
        assert!(again[4_097..].iter().all(|looked| *looked), "a fast server is noticed");
    }

    #[test]
    fn a_look_that_was_abandoned_costs_nothing() {
        let mut lookout = Lookout::default();
        assert!(lookout.looks(Timestamp::ZERO));
        lookout.abandon();
        lookout.found(Timestamp(5_000_000));
        assert!(lookout.looks(Timestamp(10_000_000)), "it neither was in vain nor lost the processor");
    }

    #[test]
    fn a_program_that_takes_the_processor_gets_it_seldom() {
        let mut lookout = Lookout::default();
        for _ in 0..3 {
            let waits = looks(&mut lookout, 4_097, SOON, Nanos::from_millis(3));
            assert!(waits[0] && count(&waits) == 1, "one look, which found something too late");
        }
    }
}
