//! Results until now: statuses, requests without an answer, causes of failures, targets.

use ratatui_core::text::Line;
use truetail_model::record::Tally;
use truetail_report::{LiveState, number, words};

use crate::look::{Emphasis, TerminalStyle};
use crate::text::Labelled;

/// Maximum number of targets on the screen.
const MAX_TARGETS: usize = 30;

/// Returns the statuses, and the failures of requests that have ended.
pub(crate) fn lines(state: &LiveState, look: TerminalStyle, columns: u16) -> Labelled {
    let mut text = Labelled::new(look, columns);
    let statuses = &state.run.snapshot.statuses;
    let one = |(status, n): (&u16, &u64)| format!("{}: {}", words::status_of(&state.run, *status), number::count(*n));
    if !statuses.is_empty() {
        let has_errors = statuses.keys().any(|status| *status >= 400);
        let all = statuses.iter().map(one).collect::<Vec<_>>().join(" · ");
        text.add("Statuses", &all, if has_errors { Emphasis::Doubt } else { Emphasis::Plain }, true);
    }
    let ended = Tally { in_flight_at_end: 0, never_issued: 0, ..state.findings.tally };
    let unanswered = words::unanswered_outcomes(&ended, &state.run.facts.source);
    if !unanswered.is_empty() {
        let one = |(n, name): (u64, &str)| format!("{} {name}", number::count(n));
        let all = unanswered.into_iter().map(one).collect::<Vec<_>>().join(" · ");
        text.add("Unanswered", &all, Emphasis::Doubt, true);
    }
    for (label, line) in words::answer_details(&state.run, &state.findings) {
        if label == "Errors" {
            text.add(label, &line, Emphasis::Doubt, true);
        }
    }
    text
}

/// Returns a row per target if there are several: requests, errors, quantiles. Cuts the beginning of long names.
pub(crate) fn targets(state: &LiveState, look: TerminalStyle, columns: u16) -> Vec<Line<'static>> {
    let rows = words::target_rows(&state.run, &state.findings, MAX_TARGETS);
    if rows.is_empty() {
        return Vec::new();
    }
    let all: Vec<Vec<String>> = std::iter::once(words::target_heads()).chain(rows).collect();
    let all: Vec<Vec<String>> = all.iter().map(|row| row.iter().map(|cell| look.printable(cell)).collect()).collect();
    let widths: Vec<usize> =
        (1..all[0].len()).map(|i| all.iter().map(|row| row[i].chars().count()).max().unwrap_or(0) + 2).collect();
    let longest = all.iter().map(|row| row[0].chars().count()).max().unwrap_or(0);
    let room = usize::from(columns).saturating_sub(widths.iter().sum()).clamp(8, longest.max(8));
    let line = |(number, row): (usize, &Vec<String>)| {
        let figures: String = row[1..].iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        let text = format!("{:room$}{figures}", end_of(&row[0], room, look));
        Line::from(look.span(if number == 0 { Emphasis::Faint } else { Emphasis::Plain }, &text))
    };
    all.iter().enumerate().map(line).collect()
}

/// Returns the end of `name`, the part in which paths of one service differ.
fn end_of(name: &str, most: usize, look: TerminalStyle) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let mark = look.printable("…");
    let kept = most.saturating_sub(mark.chars().count());
    format!("{mark}{}", name.chars().skip(length - kept).collect::<String>())
}
