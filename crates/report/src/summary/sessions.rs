//! Endings of sessions, their progress, and their times.

use truetail_run::{Distribution, Findings, Run, SessionFacts, SessionGoodput, SessionTally, StepFacts};

use super::labelled::LabelledText;
use super::tail::{QUANTILES_OF_A_ROW, at, with_quantiles};
use crate::number;
use crate::style::Style;
use crate::table::{Align, TextTable};

/// Limit on the steps and flows; `run.json` has all of them.
const SHOWN: usize = 30;
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 1.0];
const INDENT: usize = 2;
/// Requests per session that make the load follow the service, because most requests wait for an answer.
const LIKE_A_CLOSED_LOOP: u64 = 10;

/// Describes the endings of a run's sessions. Empty without a flow.
pub fn sessions(run: &Run) -> Vec<LabelledText> {
    let Some(sessions) = &run.facts.sessions else { return Vec::new() };
    let mut lines = vec![("Sessions", ends(&sessions.tally))];
    let flows = sessions.flows.iter().take(SHOWN);
    lines.extend(flows.map(|flow| ("", format!("{}: {}", flow.name, ends(&flow.tally)))));
    if sessions.flows.len() > SHOWN {
        lines.push(("", format!("and {} more flows, in run.json", sessions.flows.len() - SHOWN)));
    }
    lines.extend(goodput(run, sessions).map(|text| ("", text)));
    lines.extend(sessions.steps.iter().filter(|step| step.ended() > 0).map(|step| ("", ended_at(step))));
    let issued: u64 = sessions.steps.iter().map(|step| step.reached + step.further()).sum();
    let differ = sessions.steps.iter().any(|step| step.not_reached.not_asked > 0);
    let planned = if differ { 0 } else { sessions.steps_per_session() as u64 };
    let requests = planned.max(issued / sessions.tally.begun.max(1));
    if requests >= LIKE_A_CLOSED_LOOP {
        lines.push(("", format!("with {requests} requests a session, the load behaves like a closed loop")));
    }
    lines
}

/// Describes how many planned sessions met the objectives in each of their requests.
fn goodput(run: &Run, sessions: &SessionFacts) -> Option<String> {
    let SessionGoodput { met, cannot_tell } = sessions.goodput?;
    let slo = run.facts.stream.as_ref()?.llm.as_ref()?.slo.as_ref()?;
    let planned = sessions.tally.planned;
    let share = number::share(met as f64 / planned.max(1) as f64);
    let rest = if cannot_tell > 0 { format!("; {} cannot be told", number::count(cannot_tell)) } else { String::new() };
    let met = number::count(met);
    let planned = number::count(planned);
    Some(format!("{share} ({met} of {planned}) met {} in each call{rest}", slo.objectives.join(", ")))
}

fn ends(tally: &SessionTally) -> String {
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

/// Column heads of [`session_times`].
pub fn session_times_heads() -> Vec<String> {
    let heads = ["sessions", "values"].map(str::to_owned);
    heads.into_iter().chain(QUANTILES_OF_A_ROW.map(number::quantile_name)).collect()
}

/// Returns the response times of whole sessions: one row, and with several flows, one more per flow.
pub fn session_times(findings: &Findings) -> Vec<Vec<String>> {
    let all = findings.sessions.iter().map(|sessions| ("session time", &sessions.session_time));
    let flows = findings.sessions.iter().flat_map(|sessions| sessions.flow_times.iter().take(SHOWN));
    let of_flows = flows.map(|flow| (flow.flow.as_str(), &flow.session_time));
    let row = |(name, times): (&str, &Distribution)| {
        let heads = [name.to_owned(), number::count(times.count)].into_iter();
        heads.chain(QUANTILES_OF_A_ROW.map(|q| at(times, q))).collect()
    };
    all.chain(of_flows).filter(|(_, times)| times.count > 0).map(row).collect()
}

pub(super) fn table(findings: &Findings, style: Style) -> Vec<String> {
    match session_times(findings) {
        rows if rows.is_empty() => Vec::new(),
        rows => with_quantiles(&session_times_heads(), rows, style),
    }
}

pub(super) fn steps(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let Some(sessions) = &run.facts.sessions else { return Vec::new() };
    let names = step_quantile_names();
    let further = further_requests(sessions);
    let mut columns = vec![("step", Align::Left), ("reached", Align::Right), ("not reached", Align::Right)];
    columns.extend(further.iter().map(|(name, _)| (*name, Align::Right)));
    columns.push(("ended", Align::Right));
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = TextTable::new(&columns);
    for (nth, step) in sessions.steps.iter().enumerate().take(SHOWN) {
        let further = further.iter().map(|(_, of)| of(step));
        let counts = [step.reached, step.not_reached.total()].into_iter().chain(further).chain([step.ended()]);
        let counts = counts.map(number::count);
        let quantiles = step_quantiles(findings, nth, sessions.steps.len());
        table.row(std::iter::once(step.name.clone()).chain(counts).chain(quantiles).collect());
    }
    let mut lines = table.fitting(style.columns() - INDENT, &[5, 4], style).lines(INDENT, style);
    if sessions.steps.len() > SHOWN {
        lines.push(format!("  and {} more steps, in run.json", sessions.steps.len() - SHOWN));
    }
    lines
}

/// Column heads of [`step_quantiles`].
pub fn step_quantile_names() -> [String; 4] {
    QUANTILES.map(number::quantile_name)
}

/// Returns quantiles of the response time of step `nth` among `steps` steps.
pub fn step_quantiles(findings: &Findings, nth: usize, steps: usize) -> [String; 4] {
    let times = times_of(findings, nth, steps).filter(|times| times.count > 0);
    QUANTILES.map(|q| times.map_or("–".to_owned(), |times| quantile(times, q)))
}

/// A count of further requests of a step: name and value.
pub(super) type FurtherRequests = (&'static str, fn(&StepFacts) -> u64);

/// Returns the counts of further requests that any step has: redirects, retries, or repeats.
pub fn further_requests(sessions: &SessionFacts) -> Vec<FurtherRequests> {
    let all: [FurtherRequests; 3] =
        [("hops", |step| step.hops), ("retries", |step| step.retries), ("repeats", |step| step.repeats)];
    all.into_iter().filter(|(_, of)| sessions.steps.iter().any(|step| of(step) > 0)).collect()
}

/// Returns the response times of a step: its own, or if it is always one request, the times of its target or run.
fn times_of(findings: &Findings, nth: usize, steps: usize) -> Option<&Distribution> {
    let own = findings.sessions.iter().flat_map(|sessions| &sessions.step_times).find(|own| own.step as usize == nth);
    if let Some(own) = own {
        Some(&own.step_time)
    } else if steps == 1 {
        Some(&findings.response_time)
    } else {
        findings.targets.get(nth).map(|target| &target.response_time)
    }
}

fn quantile(times: &Distribution, q: f64) -> String {
    times.quantiles.iter().find(|quantile| quantile.q == q).map_or("–".to_owned(), number::bracketed)
}
