//! Sessions of a flow: their books and times, a row per step, early ends, and a few sessions in full.

use maud::{Markup, html};
use truetail_analysis::series::{EarlyEnds, SessionSeries, ShownSession};
use truetail_report::{number, plot, words};
use truetail_run::{FlowFacts, SampledRequest, SampledSession, SessionEnding, SessionFacts, StepFacts};

use super::page::RunPage;
use super::wording::{because, labelled, none, seconds};
use crate::document::Section;
use crate::figure::Figure;
use crate::table::Table;
use crate::text::clipped;

/// Maximum number of steps and flows on the page. `run.json` has all of them.
const MAX_STEPS: usize = 200;
/// Maximum length of a step's name, in characters, in tables that show it once or repeatedly.
const LONGEST_NAME: usize = 200;
const SHORT_NAME: usize = 40;

/// Returns the section; `None` without a flow.
pub(super) fn section(page: &RunPage<'_>) -> Option<Section> {
    let facts = page.run.facts.sessions.as_ref()?;
    let series = page.series.sessions.as_ref()?;
    Some(Section { id: "sessions", heading: "Sessions", content: content(page, facts, series) })
}

fn content(page: &RunPage<'_>, facts: &SessionFacts, series: &SessionSeries) -> Markup {
    html! {
        (labelled(words::sessions(page.run)))
        (books(facts).markup())
        @if !facts.flows.is_empty() { (flows(facts).markup()) }
        @if facts.flows.len() > MAX_STEPS { p { "and " (facts.flows.len() - MAX_STEPS) " more flows, in run.json" } }
        (times(page))
        h3 { "Step by step" }
        (steps(page, facts).markup())
        @if facts.steps.len() > MAX_STEPS { p { "and " (facts.steps.len() - MAX_STEPS) " more steps, in run.json" } }
        p.faint {
            "The load is partly open: sessions arrive on the schedule, and inside one each request follows the answer before it. A step \
             has no arrival of its own. Its response time runs from the end of the step before, plus the think time, so a step that a \
             stall keeps from beginning is not in it. The session response time has the whole stall."
        }
        @if series.early_ends.is_empty() {
            (none("No session ended early."))
        } @else {
            (Figure {
                name: "session-ends",
                picture: plot::session_ends(series),
                caption: "Where sessions ended early, and why. A session ends at the first step whose answer is not what the flow \
                          expects, or that gets none.",
                table: early_ends(series),
            }.markup())
            @if series.early_ends.len() > MAX_STEPS {
                p { "and " (series.early_ends.len() - MAX_STEPS) " more, in run.json" }
            }
        }
        @if !series.sampled.is_empty() {
            (Figure {
                name: "sessions",
                picture: plot::session_waterfall(series),
                caption: "A few sessions from their intended arrivals on: the slowest, the one in the middle of a random sample, and \
                          some others of that sample. The slowest are those with the longest session response time, however they \
                          ended. Only sessions that were begun are among them.",
                table: sampled(series),
            }.markup())
        } @else if facts.sampled.is_none() {
            (none("Single sessions are not known: the run was saved without them."))
        }
    }
}

fn books(facts: &SessionFacts) -> Table {
    let tally = facts.tally;
    let rows = [
        ("planned", tally.planned),
        ("begun", tally.begun),
        ("never begun", tally.never_begun),
        ("completed", tally.completed),
        ("ended early", tally.ended_early),
        ("in flight at end", tally.in_flight_at_end),
    ];
    let share = |count: u64| number::share(count as f64 / tally.planned.max(1) as f64);
    let row = |(name, count): (&str, u64)| [name.to_owned(), number::count(count), share(count)];
    let caption = "Planned = begun + never begun; begun = completed + ended early + in flight at end";
    Table::new(caption, ["sessions", "count", "of planned"]).with_rows(rows.map(row))
}

fn flows(facts: &SessionFacts) -> Table {
    let row = |flow: &FlowFacts| {
        let tally = flow.tally;
        let counts =
            [tally.planned, tally.begun, tally.never_begun, tally.completed, tally.ended_early, tally.in_flight_at_end];
        [clipped(&flow.name, LONGEST_NAME), number::count(flow.weight.into())]
            .into_iter()
            .chain(counts.map(number::count))
    };
    let heads = ["flow", "weight", "planned", "begun", "never begun", "completed", "ended early", "in flight at end"];
    Table::new("The sessions of each flow, which are drawn by the weights", heads)
        .with_rows(facts.flows.iter().take(MAX_STEPS).map(row))
}

fn times(page: &RunPage<'_>) -> Markup {
    let rows = words::session_times(page.findings).into_iter().map(|mut row| {
        row[0] = clipped(&row[0], LONGEST_NAME);
        row
    });
    html! {
        (Table::new("Session response time by percentile", words::session_times_heads()).with_rows(rows).markup())
        p.faint {
            "The session response time runs from the intended arrival of a session to its end, less the planned think time, over all \
             planned sessions. One that was not completed counts as slower than every one that was."
        }
    }
}

fn steps(page: &RunPage<'_>, facts: &SessionFacts) -> Table {
    let all = facts.steps.len();
    let further = words::further_requests(facts);
    let is_left_out = facts.steps.iter().any(|step| step.not_reached.not_asked > 0);
    let row = |(nth, step): (usize, &StepFacts)| {
        let missed = step.not_reached;
        let counts = [step.reached, missed.total(), missed.never_begun, missed.ended_early, missed.run_ended];
        let counts = counts.into_iter().chain(is_left_out.then_some(missed.not_asked));
        let counts = counts.chain(further.iter().map(|(_, of)| of(step))).chain([step.ended()]);
        let name = clipped(&step.name, LONGEST_NAME);
        let cells = std::iter::once(name).chain(counts.map(number::count));
        cells.chain(words::step_quantiles(page.findings, nth, all)).collect::<Vec<_>>()
    };
    let heads = ["step", "reached", "not reached", "never begun", "ended before", "run ended before"].into_iter();
    let heads = heads
        .chain(is_left_out.then_some("completed without"))
        .chain(further.iter().map(|(name, _)| *name))
        .chain(["ended sessions here"]);
    let heads = heads.map(str::to_owned).chain(words::step_quantile_names());
    Table::new("Steps: how often each was reached and was not, and step response times", heads)
        .with_rows(facts.steps.iter().enumerate().take(MAX_STEPS).map(row))
}

fn early_ends(series: &SessionSeries) -> Table {
    let row = |ends: &EarlyEnds| {
        let share = number::share(ends.sessions as f64 / series.begun.max(1) as f64);
        [name(series, ends.step, LONGEST_NAME), ends.cause.describe().to_owned(), number::count(ends.sessions), share]
    };
    Table::new("Sessions that ended early", ["step", "why", "sessions", "of begun"])
        .with_words(2)
        .with_rows(series.early_ends.iter().take(MAX_STEPS).map(row))
}

fn name(series: &SessionSeries, step: usize, longest: usize) -> String {
    series.steps.get(step).map_or(String::new(), |name| clipped(name, longest))
}

/// Returns a row for each sampled session, and below it a row for each kept request.
fn sampled(series: &SessionSeries) -> Table {
    let heads = [
        "session",
        "request",
        "how it ended",
        "due at, s",
        "due after",
        "think time or retry interval",
        "sent after",
        "ended after",
        "due to end, without think time",
    ];
    let rows = series.sampled.iter().flat_map(|shown| {
        let requests = shown.session.requests.iter().enumerate();
        let requests = requests.map(|(nth, request)| request_row(series, shown, nth, request));
        std::iter::once(session_row(shown)).chain(requests).collect::<Vec<_>>()
    });
    Table::new("A few sessions", heads).with_words(3).with_rows(rows)
}

fn session_row(shown: &ShownSession) -> [String; 9] {
    let session = &shown.session;
    let left_out = match session.left_out {
        0 => "the session".to_owned(),
        1 => "the session; one request before its last one is not kept".to_owned(),
        n => format!("the session; {} requests before its last one are not kept", number::count(n)),
    };
    [
        because(shown.because).to_owned(),
        left_out,
        ending(session).to_owned(),
        due_s(session.intended_start_ns),
        "–".to_owned(),
        number::time(session.think_ns),
        "–".to_owned(),
        number::time(session.end_ns.saturating_sub(session.intended_start_ns)),
        number::time(session.time_ns()),
    ]
}

fn due_s(due_ns: u64) -> String {
    seconds(due_ns as f64 / 1e9)
}

fn request_row(series: &SessionSeries, shown: &ShownSession, nth: usize, request: &SampledRequest) -> [String; 9] {
    let session = &shown.session;
    let since = |at_ns: u64| number::time(at_ns.saturating_sub(session.intended_start_ns));
    let is_last = nth + 1 == session.requests.len();
    // The request before the last one is unknown if some requests were left out.
    let before = nth.checked_sub(1).filter(|_| !is_last || session.left_out == 0);
    let before = before.and_then(|before| session.requests[before].end_ns);
    let how = match (session.ending, request.end_ns) {
        (SessionEnding::EndedEarly(cause), _) if is_last => cause.describe(),
        (_, None) => "in flight",
        // Attempts and redirects have ended too, and the record does not mark them.
        _ if series.may_repeat.get(request.step as usize) == Some(&true) => "ended",
        _ => "as expected",
    };
    let unknown = || "–".to_owned();
    [
        because(shown.because).to_owned(),
        name(series, request.step as usize, SHORT_NAME),
        how.to_owned(),
        due_s(request.due_ns),
        since(request.due_ns),
        before.map_or_else(unknown, |end_ns| number::time(request.due_ns.saturating_sub(end_ns))),
        since(request.sent_ns),
        request.end_ns.map_or_else(unknown, since),
        request.end_ns.map_or_else(unknown, |end_ns| number::time(end_ns.saturating_sub(request.due_ns))),
    ]
}

const fn ending(session: &SampledSession) -> &'static str {
    match session.ending {
        SessionEnding::Completed => "completed",
        SessionEnding::EndedEarly(_) => "ended early",
        SessionEnding::InFlightAtEnd => "in flight at end",
    }
}
