//! The last lines: how an interrupted run ended, notes, and where the run was saved.

use truetail_run::Run;

use super::labelled::{labelled, labelled_text};
use crate::number;
use crate::style::Style;

/// All of them.
pub(super) fn lines(run: &Run, saved: Option<&str>, style: Style) -> Vec<String> {
    let stopped = run.facts.interrupted.then(|| stopped(run));
    let notes = stopped.iter().chain(&run.facts.notes);
    let mut lines: Vec<String> = notes.flat_map(|note| labelled_text("Note", note, style)).collect();
    if let Some(saved) = saved {
        lines.push(labelled("Saved", &style.printable(saved), style));
    }
    lines
}

fn stopped(run: &Run) -> String {
    if run.facts.cut_short == Some(false) {
        return "stopped after the last request was due: only the wait for answers was shorter".to_owned();
    }
    let last = run.snapshot.samples.even().iter().map(|record| record.intended_start.0).max();
    last.map_or("Stopped early".to_owned(), |last| format!("Stopped early after {}", number::round_time(last)))
}
