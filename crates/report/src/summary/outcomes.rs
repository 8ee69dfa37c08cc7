//! The tally, the statuses and the errors.

use truetail_model::record::Tally;
use truetail_run::{Findings, Run};

use super::labelled::labelled_text;
use crate::number;
use crate::style::Style;

/// planned = issued + never issued; issued = the sum of its outcomes; then statuses, targets and errors, where there are
/// some worth showing.
pub(super) fn lines(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let tally = &findings.tally;
    let planned = format!(
        "{} planned = {} issued + {} never issued",
        number::count(tally.planned),
        number::count(tally.issued),
        number::count(tally.never_issued)
    );
    let issued = format!("{} issued = {}", number::count(tally.issued), outcomes(tally).join(" + "));
    let mut lines = labelled_text("Arrivals", &planned, style);
    lines.extend(labelled_text("", &issued, style));
    if let Some(statuses) = statuses(run) {
        lines.extend(labelled_text("Statuses", &statuses, style));
    }
    lines.extend(by_target(run, style));
    if let Some(errors) = errors(run) {
        lines.extend(labelled_text("Errors", &errors, style));
    }
    lines
}

/// The number of responses, and every other outcome that occurred.
fn outcomes(tally: &Tally) -> Vec<String> {
    let others = [
        (tally.connect_failed, "connect failed"),
        (tally.reset, "reset"),
        (tally.malformed, "malformed"),
        (tally.timed_out, "timed out"),
        (tally.in_flight_at_end, "in flight at end"),
    ];
    let one = |(n, name): &(u64, &str)| format!("{} {name}", number::count(*n));
    let responses = (tally.responses, "responses");
    [responses].iter().chain(others.iter().filter(|(n, _)| *n > 0)).map(one).collect()
}

/// Counts by status; `None` if every answer was a 200 or had no status.
fn statuses(run: &Run) -> Option<String> {
    let statuses = &run.snapshot.statuses;
    let usual = statuses.keys().all(|status| matches!(status, 0 | 200));
    let one = |(status, n): (&u16, &u64)| format!("{status}: {}", number::count(*n));
    (!usual).then(|| statuses.iter().map(one).collect::<Vec<_>>().join(" · "))
}

/// The most targets that are shown; `run.json` has them all.
const TARGETS_SHOWN: usize = 10;

/// The outcomes of each target, where there are several.
fn by_target(run: &Run, style: Style) -> Vec<String> {
    let targets = &run.facts.by_target;
    let mut lines = Vec::new();
    for (number, target) in targets.iter().take(TARGETS_SHOWN).enumerate() {
        let statuses = target.statuses.iter().map(|(status, n)| format!(" · {status}: {}", number::count(*n)));
        let unanswered = Some(target.tally.unanswered()).filter(|n| *n > 0);
        let unanswered = unanswered.map(|n| format!(" · {} unanswered", number::count(n)));
        let books = statuses.chain(unanswered).collect::<String>();
        let text = format!("{} {}: {} planned{books}", target.method, target.url, number::count(target.tally.planned));
        lines.extend(labelled_text(if number == 0 { "Targets" } else { "" }, &text, style));
    }
    if targets.len() > TARGETS_SHOWN {
        lines.extend(labelled_text("", &format!("and {} more, in run.json", targets.len() - TARGETS_SHOWN), style));
    }
    lines
}

/// Most frequent first.
fn errors(run: &Run) -> Option<String> {
    let mut causes: Vec<_> = run.snapshot.causes.iter().collect();
    causes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let one =
        |(cause, n): &(&truetail_model::record::Cause, &u64)| format!("{} × {}", number::count(**n), cause.describe());
    (!causes.is_empty()).then(|| causes.iter().map(one).collect::<Vec<_>>().join(" · "))
}
