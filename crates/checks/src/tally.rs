//! Counts of passed and failed answers, by time of the arrival.

use truetail_model::time::{NANOS_PER_SECOND, Timestamp};
use truetail_run::CheckCounts;

use crate::check::Check;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Counts {
    passed: u64,
    failed: u64,
}

/// Counts for all checks of a run, by the second of the intended start, or for all seconds together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CheckTally {
    checks: usize,
    by_second: bool,
    /// Rows of `checks` counts, one row per second.
    rows: Vec<Counts>,
}

impl CheckTally {
    pub(crate) fn new(checks: usize, by_second: bool) -> CheckTally {
        CheckTally { checks, by_second, rows: Vec::new() }
    }

    pub(crate) fn count(&mut self, intended_start: Timestamp, check: usize, passed: bool) {
        let second = if self.by_second { (intended_start.since_origin().0 / NANOS_PER_SECOND) as usize } else { 0 };
        let room = (second + 1) * self.checks;
        if self.rows.len() < room {
            self.rows.resize(room, Counts::default());
        }
        let counts = &mut self.rows[second * self.checks + check];
        if passed { counts.passed += 1 } else { counts.failed += 1 }
    }

    pub(crate) fn merge(&mut self, other: &CheckTally) {
        if self.rows.len() < other.rows.len() {
            self.rows.resize(other.rows.len(), Counts::default());
        }
        for (whole, part) in self.rows.iter_mut().zip(&other.rows) {
            whole.passed += part.passed;
            whole.failed += part.failed;
        }
    }

    /// Returns the counts of arrivals from the second of `from` on, or of all arrivals if seconds are not kept.
    pub(crate) fn since(&self, from: Timestamp, checks: &[Check]) -> Vec<CheckCounts> {
        let first = if self.by_second { (from.since_origin().0 / NANOS_PER_SECOND) as usize } else { 0 };
        let rows = self.rows.get(first * self.checks..).unwrap_or_default();
        let counts_of = |nth: usize| rows.iter().skip(nth).step_by(self.checks);
        let checks = checks.iter().enumerate().map(|(nth, check)| CheckCounts {
            text: check.text().to_owned(),
            passed: counts_of(nth).map(|counts| counts.passed).sum(),
            failed: counts_of(nth).map(|counts| counts.failed).sum(),
        });
        checks.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_off_is_not_counted() {
        let checks: Vec<Check> = ["status == 200", "body == a"].map(|text| text.parse().unwrap()).into();
        let at = |seconds: u64| Timestamp(seconds * NANOS_PER_SECOND + 7);
        for by_second in [false, true] {
            let mut whole = CheckTally::new(2, by_second);
            let mut part = CheckTally::new(2, by_second);
            whole.count(at(0), 0, true);
            whole.count(at(3), 1, false);
            part.count(at(5), 0, false);
            part.count(at(5), 0, true);
            whole.merge(&part);
            let passed_and_failed = |from: Timestamp| {
                whole.since(from, &checks).iter().map(|counts| (counts.passed, counts.failed)).collect::<Vec<_>>()
            };
            assert_eq!(passed_and_failed(Timestamp::ZERO), [(2, 1), (0, 1)]);
            if by_second {
                assert_eq!(passed_and_failed(Timestamp(3 * NANOS_PER_SECOND)), [(1, 1), (0, 1)]);
                assert_eq!(passed_and_failed(at(4)), [(1, 1), (0, 0)]);
                assert_eq!(passed_and_failed(at(9)), [(0, 0), (0, 0)]);
            }
        }
        assert_eq!(CheckTally::new(2, true).since(at(1), &checks).len(), 2);
    }
}
