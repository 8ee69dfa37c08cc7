//! Groups of slow requests that took a similar time.

use truetail_run::{Findings, Mode};

use crate::number;
use crate::style::Style;

const INDENT: usize = 2;

/// Returns a sentence for each group.
pub(super) fn lines(findings: &Findings, style: Style) -> Vec<String> {
    let sentences = mode_sentences(findings);
    let wrapped = sentences.iter().flat_map(|text| style.wrap(&style.printable(text), style.columns() - INDENT));
    wrapped.map(|line| format!("  {line}")).collect()
}

/// Returns a sentence for each group: how many, how long, in which part, and where in the run.
pub fn mode_sentences(findings: &Findings) -> Vec<String> {
    findings.modes.iter().map(|mode| format!("A group: {}", mode.message)).collect()
}

/// Column heads of [`mode_rows`].
pub const MODE_HEADS: [&str; 5] = ["answers", "share", "times", "mostly", "share of that part"];

/// Returns a row for each group.
pub fn mode_rows(findings: &Findings) -> Vec<[String; 5]> {
    let row = |mode: &Mode| {
        [
            number::count(mode.requests),
            number::share(mode.share),
            number::time_range(Some(mode.low_ns), Some(mode.high_ns)),
            mode.part.clone(),
            number::share(mode.part_share),
        ]
    };
    findings.modes.iter().map(row).collect()
}
