//! Results of the checks of answers (`--check`).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// A check, and how many measured answers passed and failed it. Arrivals without an answer are in neither count.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CheckCounts {
    /// The check as the user wrote it: `status == 200`.
    pub text: String,
    /// Number of answers that passed.
    pub passed: u64,
    /// Number of answers that failed.
    pub failed: u64,
}

impl CheckCounts {
    /// Adds the counts of the same check in another part of the run. Sums saturate, since files may hold any counts.
    pub fn merge(&mut self, other: &CheckCounts) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
    }

    /// Returns the number of checked answers.
    pub fn answers(&self) -> u64 {
        self.passed.saturating_add(self.failed)
    }
}

/// An answer that failed a check, with the beginning of its body.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedAnswer {
    /// Index of its arrival in the whole schedule, from 0.
    pub arrival: u64,
    /// Intended start, nanoseconds from the origin of the run.
    pub intended_start_ns: u64,
    /// Method and URL, with placeholders.
    pub target: String,
    /// The checks that it failed.
    pub failed: Vec<FailedCheck>,
    /// HTTP status; `None` in a protocol without a status.
    pub status: Option<u16>,
    /// Header fields in the order of the answer, each as `name: value`.
    pub headers: Vec<String>,
    /// The first 4 KiB of the body, without transfer coding. Invalid UTF-8 is replaced by U+FFFD.
    pub body: String,
    /// Length of the whole body, bytes.
    pub body_bytes: u64,
}

/// A check that an answer failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedCheck {
    /// The check as the user wrote it.
    pub check: String,
    /// Reason for the failure.
    pub why: String,
}

/// Number of failed answers that a run keeps. It also keeps one answer for each failed check that these do not show.
pub const MAX_FAILED_ANSWERS: usize = 5;

/// Selects the answers that a run keeps out of `answers`, and returns them in the order of their arrivals.
pub fn first_failed(mut answers: Vec<FailedAnswer>) -> Vec<FailedAnswer> {
    answers.sort_by_key(|answer| (answer.intended_start_ns, answer.arrival));
    let mut count = 0;
    let mut with_example = HashSet::new();
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
            status: Some(200),
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
