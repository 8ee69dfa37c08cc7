//! Shared parts of the three formats.

use crate::output_reader::OutputReader;

pub(in crate::oha) const NAME: &str = "oha";
pub(in crate::oha) const TESTED: &str = "1.16.0";
pub(super) const STDOUT: OutputReader = OutputReader::stdout(NAME, TESTED);
/// oha's name for requests in flight at the end.
const ABORTED: &str = "aborted due to deadline";

/// Counts of requests without an answer.
#[derive(Clone, Copy, Default)]
pub(super) struct Errors {
    /// Requests in flight at the end.
    pub aborted: u64,
    /// All other errors.
    pub failed: u64,
}

impl Errors {
    pub(super) fn add(&mut self, what: &str, count: u64) {
        let kind = if what == ABORTED { &mut self.aborted } else { &mut self.failed };
        *kind = kind.saturating_add(count);
    }

    pub(super) fn notes(&self) -> Vec<String> {
        match self.aborted {
            0 => Vec::new(),
            n => vec![format!(
                "{n} requests were in flight at the end and were aborted; its success rate leaves them out"
            )],
        }
    }
}
