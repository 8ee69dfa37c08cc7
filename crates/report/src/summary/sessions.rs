//! How sessions ended, how far they came, and how long they took.

use truetail_run::{Distribution, Findings, Run, SessionFacts, StepFacts};

use super::labelled::LabelledText;
use super::tail::{QUANTILES_OF_A_ROW, at, with_quantiles};
use crate::number;
use crate::style::Style;
use crate::table::{Align, TextTable};

/// The most steps that are shown; `run.json` has them all.
const SHOWN: usize = 30;
/// The quantiles that are shown of each step.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 1.0];
/// Columns before the table.
const INDENT: usize = 2;
/// From so many requests a session on, the next arrival waits for so many answers that the load follows the service.
const LIKE_A_CLOSED_LOOP: u64 = 10;

/// How the sessions of a run ended. Empty where there was no flow.
pub(super) fn sessions(run: &Run) -> Vec<LabelledText> {
    let Some(sessions) = &run.facts.sessions else { return Vec::new() };
    let mut lines = vec![("Sessions", ends(sessions))];
    lines.extend(sessions.steps.iter().filter(|step| step.ended() > 0).map(|step| ("", ended_at(step))));
    let requests: u64 = sessions.steps.iter().map(|step| step.per_session).sum();
    if requests >= LIKE_A_CLOSED_LOOP {
        lines.push(("", format!("with {requests} requests a session, the load behaves like a closed loop")));
    }
    lines
}

fn ends(sessions: &SessionFacts) -> String {
    let tally = sessions.tally;
    let complete = format!("{} of {} completed", number::count(tally.completed), number::count(tally.planned));
    let others = [
        (tally.ended_early, "ended early"),
        (tally.in_flight_at_end, "in flight at end"),
        (tally.never_begun, "never begun"),
    ];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let others = others.map(|(count, how)| format!("{} {how}", number::count(count)));
    std::iter::once(complete).chain(others).collect::<Vec<_>>().join(", ")
}

fn ended_at(step: &StepFacts) -> String {
    let causes = step.ended_here.iter().map(|(cause, count)| format!("{} {}", number::count(*count), cause.describe()));
    format!("ended at {}: {}", step.name, causes.collect::<Vec<_>>().join(", "))
}

/// The response times of whole sessions.
pub(super) fn session_times(findings: &Findings, style: Style) -> Vec<String> {
    let Some(sessions) = findings.sessions.as_ref().filter(|sessions| sessions.session_time.count > 0) else {
        return Vec::new();
    };
    let heads: Vec<String> = ["sessions", "values"]
        .map(str::to_owned)
        .into_iter()
        .chain(QUANTILES_OF_A_ROW.map(number::quantile_name))
        .collect();
    let times = &sessions.session_time;
    let row = ["session time".to_owned(), number::count(times.count)].into_iter();
    with_quantiles(&heads, vec![row.chain(QUANTILES_OF_A_ROW.map(|q| at(times, q))).collect()], style)
}

/// A row a step.
pub(super) fn steps(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let Some(sessions) = &run.facts.sessions else { return Vec::new() };
    let names = QUANTILES.map(number::quantile_name);
    let mut columns =
        vec![("step", Align::Left), ("reached", Align::Right), ("not reached", Align::Right), ("ended", Align::Right)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = TextTable::new(&columns);
    for (nth, step) in sessions.steps.iter().enumerate().take(SHOWN) {
        let counts = [step.reached, step.not_reached.total(), step.ended()].map(number::count);
        let times = times_of(findings, nth, sessions.steps.len()).filter(|times| times.count > 0);
        let quantiles = QUANTILES.map(|q| times.map_or("–".to_owned(), |times| quantile(times, q)));
        table.row(std::iter::once(step.name.clone()).chain(counts).chain(quantiles).collect());
    }
    let mut lines = table.fitting(style.columns() - INDENT, &[5, 4], style).lines(INDENT, style);
    if sessions.steps.len() > SHOWN {
        lines.push(format!("  and {} more steps, in run.json", sessions.steps.len() - SHOWN));
    }
    lines
}

/// The response times of a step: those of its target, or of all requests where there is but one step.
fn times_of(findings: &Findings, nth: usize, steps: usize) -> Option<&Distribution> {
    if steps == 1 {
        Some(&findings.response_time)
    } else {
        findings.targets.get(nth).map(|target| &target.response_time)
    }
}

fn quantile(times: &Distribution, q: f64) -> String {
    times.quantiles.iter().find(|quantile| quantile.q == q).map_or("–".to_owned(), number::bracketed)
}
