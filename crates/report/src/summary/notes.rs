//! The last lines: the end of an interrupted run, notes, and the folder of the saved run.

use truetail_model::time::NANOS_PER_SECOND;
use truetail_run::Run;

use super::labelled::{labelled, labelled_text};
use crate::number;
use crate::style::Style;

/// Beginning of the note about the time and the cause of an early end.
const STOPPED_EARLY: &str = "Stopped early";

pub(super) fn lines(run: &Run, saved: Option<&str>, style: Style) -> Vec<String> {
    let mut lines: Vec<String> = notes(run).iter().flat_map(|note| labelled_text("Note", note, style)).collect();
    if let Some(saved) = saved {
        lines.push(labelled("Saved", &style.printable(saved), style));
    }
    lines
}

/// Returns the notes of a run, the end of an interrupted run first.
pub fn notes(run: &Run) -> Vec<String> {
    let is_told = run.facts.notes.iter().any(|note| note.starts_with(STOPPED_EARLY));
    let stopped = (run.facts.interrupted && run.facts.checkpoint.is_none() && !is_told).then(|| ending(run));
    let stripe = run.facts.stripe.as_ref().map(|stripe| {
        format!("stripe {}/{} of this load: the numbers are those of one machine", stripe.index, stripe.of)
    });
    stopped.into_iter().chain(stripe).chain(run.facts.notes.iter().cloned()).collect()
}

fn ending(run: &Run) -> String {
    match run.facts.cut_short {
        Some(false) => "stopped after the last request was due: only the wait for answers was shorter".to_owned(),
        Some(true) | None => stopped_after(run),
    }
}

/// Formats `Stopped early after 4.02s (Ctrl-C)`, a note for a run that ended before its schedule. `by` is the cause.
pub fn stopped_early(run: &Run, by: &str) -> String {
    format!("{} ({by})", stopped_after(run))
}

/// Formats the time of the last planned request, as far as samples show it, and at least the beginning of its second.
/// In an extreme overload, the samples leave out most requests.
fn stopped_after(run: &Run) -> String {
    let sampled = run.snapshot.samples.even().iter().map(|record| record.intended_start.0).max();
    let last_second = run.snapshot.seconds.iter().rposition(|second| second.planned > 0);
    let last = sampled.max(last_second.map(|second| second as u64 * NANOS_PER_SECOND));
    last.map_or(STOPPED_EARLY.to_owned(), |last| format!("{STOPPED_EARLY} after {}", number::round_time(last)))
}
