//! The observed progress of a run.
//!
//! The record of a run holds only ended requests, so its last columns lack requests in flight. The counters of the
//! workers are complete. Rates, backlog and requests in flight are therefore drawn from looks at the counters.

use truetail_model::time::Nanos;
use truetail_report::RunProgress;

/// Maximum number of looks. Above it, every second look is dropped; at four a second, that is after eight minutes.
const MOST: usize = 2048;
/// Minimum time over which current rates are means.
const LATELY: Nanos = Nanos::from_secs(1);

/// Looks at the counters of a run, in order of time.
#[derive(Clone, Default, Debug)]
pub struct History {
    looks: Vec<RunProgress>,
}

/// Rates per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Rates {
    pub sent: f64,
    pub answered: f64,
}

impl History {
    /// Adds a look, and removes looks that are not earlier than it.
    pub fn add(&mut self, look: RunProgress) {
        while self.looks.last().is_some_and(|last| last.elapsed >= look.elapsed) {
            self.looks.pop();
        }
        if self.looks.len() >= MOST {
            let mut number = 0;
            self.looks.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
        self.looks.push(look);
    }

    /// Returns the latest look.
    pub fn latest(&self) -> Option<&RunProgress> {
        self.looks.last()
    }

    /// Returns the current rates; `None` before there are two looks.
    pub(crate) fn rates_now(&self) -> Option<Rates> {
        let now = self.latest()?;
        let then = now.elapsed.saturating_sub(LATELY);
        let before = self.looks.partition_point(|look| look.elapsed <= then).saturating_sub(1);
        rates_between(&self.looks[before], now)
    }

    /// Returns the rates over `[from, to)`, in seconds. They are taken between the last look up to `from` and the first
    /// one from `to` on. Returns `None` if one of these looks is missing.
    pub(crate) fn rates(&self, from: f64, to: f64) -> Option<Rates> {
        let first = self.looks.partition_point(|look| look.elapsed.as_secs_f64() <= from).checked_sub(1)?;
        let last = self.looks.partition_point(|look| look.elapsed.as_secs_f64() < to);
        rates_between(self.looks.get(first)?, self.looks.get(last)?)
    }

    /// Returns the looks in `[from, to)`, in seconds.
    pub(crate) fn looks(&self, from: f64, to: f64) -> &[RunProgress] {
        let at = |time: f64| self.looks.partition_point(|look| look.elapsed.as_secs_f64() < time);
        let first = at(from);
        let last = at(to);
        &self.looks[first..last.max(first)]
    }
}

fn rates_between(before: &RunProgress, after: &RunProgress) -> Option<Rates> {
    let seconds = after.elapsed.saturating_sub(before.elapsed).as_secs_f64();
    let per_second = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
    (seconds > 0.0).then(|| Rates {
        sent: per_second(before.sent, after.sent),
        answered: per_second(before.answered, after.answered),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn look(millis: u64, sent: u64, answered: u64) -> RunProgress {
        RunProgress { elapsed: Nanos::from_millis(millis), sent, answered, ..RunProgress::default() }
    }

    #[test]
    fn rates_are_means_between_two_looks() {
        let mut history = History::default();
        assert_eq!(history.rates_now(), None);
        history.add(look(0, 0, 0));
        assert_eq!(history.rates_now(), None);
        history.add(look(500, 100, 90));
        assert_eq!(history.rates_now(), Some(Rates { sent: 200.0, answered: 180.0 }));
        history.add(look(1000, 300, 290));
        history.add(look(2000, 300, 300));
        assert_eq!(history.rates_now(), Some(Rates { sent: 0.0, answered: 10.0 }));
        assert_eq!(history.rates(0.5, 1.0), Some(Rates { sent: 400.0, answered: 400.0 }));
        assert_eq!(history.rates(0.6, 0.7), history.rates(0.5, 1.0), "nothing is known of less");
        assert_eq!(history.rates(1.5, 2.5), None, "it is not over");
        assert_eq!(history.looks(0.5, 2.0).len(), 2);
        assert_eq!(history.looks(9.0, 3.0), []);
    }

    proptest! {
        #[test]
        fn it_stays_small_and_in_order(steps in prop::collection::vec(0u64..400, 0..6000)) {
            let mut history = History::default();
            let mut millis = 0;
            for (number, step) in steps.iter().enumerate() {
                millis += step;
                history.add(look(millis, number as u64, number as u64));
                prop_assert_eq!(history.latest().map(|look| look.sent), Some(number as u64));
            }
            prop_assert!(history.looks.len() <= MOST);
            prop_assert!(history.looks.is_sorted_by(|a, b| a.elapsed < b.elapsed));
        }
    }
}
