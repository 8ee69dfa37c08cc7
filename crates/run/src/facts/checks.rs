//! What became of the checks of answers (`--check`).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// A check, and how many measured answers passed it. Arrivals without an answer are in neither count.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CheckCounts {
    /// As the user wrote it: `status == 200`.
    pub text: String,
    /// Answers that passed it.
    pub passed: u64,
    /// Answers that did not.
    pub failed: u64,
}

impl CheckCounts {
    /// Adds the counts of the same check in another part of the run. A file may hold any counts, so sums saturate.
    pub fn merge(&mut self, other: &CheckCounts) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
    }

    /// How many answers were checked.
    pub fn answers(&self) -> u64 {
        self.passed.saturating_add(self.failed)
    }
}

/// An answer that failed a check, as far as it is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedAnswer {
    /// The place of its arrival in the whole schedule, from 0.
    pub arrival: u64,
    /// When the arrival was to start, nanoseconds from the origin of the run.
    pub intended_start_ns: u64,
    /// Method and URL, with its placeholders.
    pub target: String,
    /// The checks that it failed.
    pub failed: Vec<FailedCheck>,
    /// HTTP status.
    pub status: u16,
    /// Its header fields, `name: value` each, in the order in which they came.
    pub headers: Vec<String>,
    /// The first 4 KiB of its body, without transfer coding; what is not UTF-8 is replaced by U+FFFD.
    pub body: String,
    /// Bytes of the whole body.
    pub body_bytes: u64,
}

/// A check that an answer failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedCheck {
    /// The check, as the user wrote it.
    pub check: String,
    /// Why the answer fails it.
    pub why: String,
}

/// So many answers that failed are kept of a run, and beyond them the first one for each check that has none by then.
pub const MAX_FAILED_ANSWERS: usize = 5;

/// The answers that are kept of a run that has all of these, in the order of their arrivals.
pub fn first_failed(mut answers: Vec<FailedAnswer>) -> Vec<FailedAnswer> {
    answers.sort_by_key(|answer| (answer.intended_start_ns, answer.arrival));
    let (mut count, mut with_example) = (0, HashSet::new());
    answers.retain(|answer| {
        let has_new = answer.failed.iter().any(|failed| !with_example.contains(&failed.check));
        let is_kept = count < MAX_FAILED_ANSWERS || has_new;
        if is_kept {
            count += 1;
            with_example.extend(answer.failed.iter().map(|failed| failed.check.clone()));
        }
        is_kept
    });
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(arrival: u64, check: &str) -> FailedAnswer {
        FailedAnswer {
            arrival,
            intended_start_ns: arrival * 10,
            target: String::new(),
            failed: vec![FailedCheck { check: check.to_owned(), why: String::new() }],
            status: 200,
            headers: Vec::new(),
            body: String::new(),
            body_bytes: 0,
        }
    }

    #[test]
    fn the_first_few_are_kept_and_one_for_each_check() {
        let answers = (0..20).rev().map(|arrival| answer(arrival, if arrival == 17 { "rare" } else { "often" }));
        let kept = first_failed(answers.collect());
        assert_eq!(kept.iter().map(|answer| answer.arrival).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 17]);
        assert_eq!(first_failed(kept.clone()), kept);
    }
}
