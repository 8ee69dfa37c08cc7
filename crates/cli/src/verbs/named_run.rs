//! Runs that are compared, and what they are called.

use truetail_run::{Findings, Run, Verdict};

/// A run, what it is called, and its findings.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) run: Run,
    pub(super) findings: Findings,
}

/// The same as the comparison asks for them.
pub(super) fn with_verdicts<'a>(side: impl IntoIterator<Item = &'a Named>) -> Vec<(&'a str, &'a Run, &'a Verdict)> {
    side.into_iter().map(|named| (named.name.as_str(), &named.run, &named.findings.verdict)).collect()
}
