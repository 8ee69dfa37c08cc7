//! The last lines: how an interrupted run ended, notes, and where the run was saved.

use truetail_model::time::NANOS_PER_SECOND;
use truetail_run::Run;

use super::labelled::{labelled, labelled_text};
use crate::number;
use crate::style::Style;

/// How the note begins that says when and by what a run was stopped.
const STOPPED_EARLY: &str = "Stopped early";

/// All of them.
pub(super) fn lines(run: &Run, saved: Option<&str>, style: Style) -> Vec<String> {
    let mut lines: Vec<String> = notes(run).iter().flat_map(|note| labelled_text("Note", note, style)).collect();
    if let Some(saved) = saved {
        lines.push(labelled("Saved", &style.printable(saved), style));
    }
    lines
}

/// The notes of a run; how an interrupted one ended comes first.
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

/// `Stopped early after 4.02s (Ctrl-C)`: a note for a run that ended before its schedule did. `by` is what stopped it.
pub fn stopped_early(run: &Run, by: &str) -> String {
    format!("{} ({by})", stopped_after(run))
}

/// The time is that of the last request that was planned, as far as samples say, and at least the beginning of its second:
/// the samples leave out most of a load that was far more than could be sent.
fn stopped_after(run: &Run) -> String {
    let sampled = run.snapshot.samples.even().iter().map(|record| record.intended_start.0).max();
    let last_second = run.snapshot.seconds.iter().rposition(|second| second.planned > 0);
    let last = sampled.max(last_second.map(|second| second as u64 * NANOS_PER_SECOND));
    last.map_or(STOPPED_EARLY.to_owned(), |last| format!("{STOPPED_EARLY} after {}", number::round_time(last)))
}
