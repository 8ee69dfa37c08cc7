//! The commands that a run started, and the effect of each.

use truetail_run::{Findings, Mark, MarkFinding, Run};

use crate::number;
use crate::style::Style;

const INDENT: usize = 2;
/// Limit on the letters of a command.
const LONGEST_NAME: usize = 60;

/// Returns a sentence for each mark.
pub(super) fn lines(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let sentences = mark_sentences(run, findings);
    let wrapped = sentences.iter().flat_map(|text| style.wrap(&style.printable(text), style.columns() - INDENT));
    wrapped.map(|line| format!("  {line}")).collect()
}

/// Returns a sentence for each mark: when, what, and its effect.
pub fn mark_sentences(run: &Run, findings: &Findings) -> Vec<String> {
    let sentence = |(mark, finding): (&Mark, &MarkFinding)| {
        let name: String = mark.name.chars().take(LONGEST_NAME).collect();
        let cut = if name.len() < mark.name.len() { "…" } else { "" };
        let problem = mark.problem.as_ref().map_or(String::new(), |problem| format!(" ({problem})"));
        format!("Event at {}: {name}{cut}{problem}: {}", number::round_time(rounded(mark.at_ns)), finding.message)
    };
    run.facts.marks.iter().zip(&findings.marks).map(sentence).collect()
}

/// Returns a time in whole milliseconds.
fn rounded(ns: u64) -> u64 {
    ns / 1_000_000 * 1_000_000
}

/// Column heads of [`mark_rows`].
pub const MARK_HEADS: [&str; 7] = ["event", "at", "took", "harmed", "longest time", "p99 back after", "95 % interval"];

/// Returns a row for each mark.
pub fn mark_rows(run: &Run, findings: &Findings) -> Vec<[String; 7]> {
    let time = |ns: Option<u64>| ns.map_or("–".to_owned(), number::time);
    let row = |(mark, finding): (&Mark, &MarkFinding)| {
        let interval = number::time_range(finding.recovery_low_ns, finding.recovery_high_ns);
        [
            mark.name.clone(),
            number::time(mark.at_ns),
            time(mark.took_ns),
            finding.harmed.map_or("–".to_owned(), number::count),
            time(finding.peak_ns),
            time(finding.recovery_ns),
            if interval.is_empty() { "–".to_owned() } else { interval },
        ]
    };
    run.facts.marks.iter().zip(&findings.marks).map(row).collect()
}
