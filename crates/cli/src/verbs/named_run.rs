//! Runs to compare, with their names.

use truetail_run::{Findings, Run, Verdict};

pub(super) struct Named {
    pub(super) name: String,
    pub(super) run: Run,
    pub(super) findings: Findings,
}

/// Returns name, run and verdict of each run, as the comparison expects them.
pub(super) fn with_verdicts<'a>(side: impl IntoIterator<Item = &'a Named>) -> Vec<(&'a str, &'a Run, &'a Verdict)> {
    side.into_iter().map(|named| (named.name.as_str(), &named.run, &named.findings.verdict)).collect()
}
