//! What became of the checks of answers (`--check`).

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
    /// Adds the counts of the same check in another part of the run.
    pub fn merge(&mut self, other: &CheckCounts) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}
