//! The verdict on the measurement, the results of gates and checks, and notes.

use maud::{Markup, html};
use truetail_report::{number, words};
use truetail_run::{Findings, GateState, Quantile, VerdictState};

use super::page::RunPage;
use crate::document::Section;
use crate::table::Table;
use crate::text::clipped;

/// Maximum number of notes on the page. `run.json` has all of them.
const MAX_NOTES: usize = 100;
/// Maximum length of a note, in characters.
const LONGEST_NOTE: usize = 2_000;

pub(super) fn section(page: &RunPage<'_>) -> Section {
    let heading = if page.live { "Verdict so far" } else { "Verdict" };
    Section { id: "verdict", heading, content: content(page) }
}

fn content(page: &RunPage<'_>) -> Markup {
    let run = page.run;
    let findings = page.findings;
    let state = findings.verdict.state;
    html! {
        p class={ "state " (class_of(state)) } { strong { (state.name()) } " " (meaning(state)) }
        @if !findings.verdict.reasons.is_empty() {
            ul.reasons {
                @for reason in &findings.verdict.reasons {
                    li class=(class_of(reason.state)) {
                        strong { (reason.state.name()) } " " code { (reason.code) } ": " (reason.message)
                    }
                }
            }
        }
        p.lead { (words::answer_shares(run, findings)) "." @if !page.is_saturated() { (in_a_sentence(findings)) } }
        (gates(findings))
        (checks(page).markup())
        (notes(page))
    }
}

const fn class_of(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Valid => "valid",
        VerdictState::Suspect => "suspect",
        VerdictState::Invalid => "invalid",
    }
}

const fn meaning(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Valid => "No problem was found with the measurement.",
        VerdictState::Suspect => "The measurement can be used, with the doubt that is stated here.",
        VerdictState::Invalid => {
            "This was not the requested load, or its numbers mean nothing. Do not use them, other than where a gate is decided."
        }
    }
}

/// Describes the headline table in a sentence, for readers who do not know percentiles. Mentions only plain numbers.
fn in_a_sentence(findings: &Findings) -> String {
    let at = |q: f64| findings.response_time.quantiles.iter().find(|quantile| quantile.q == q).and_then(plain);
    let parts = [
        at(0.5).map(|time| format!("half of the requests took {time} or less")),
        at(0.99).map(|time| format!("99 of 100 took {time} or less")),
        at(1.0).map(|time| format!("the slowest took {time}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.join(", ") {
        text if text.is_empty() => String::new(),
        text => format!(" Measured from the moment at which each was due, {text}."),
    }
}

/// Returns the value of a quantile that is a single number without a mark.
fn plain(quantile: &Quantile) -> Option<String> {
    let is_marked = quantile.at_least || quantile.no_answer || !quantile.supported || number::is_bracketed(quantile);
    quantile.value_ns.filter(|_| !is_marked).map(number::time)
}

const fn gate_class(state: GateState) -> &'static str {
    match state {
        GateState::Holds => "gate holds",
        GateState::Fails => "gate fails",
        GateState::Open => "gate open",
    }
}

fn gates(findings: &Findings) -> Markup {
    html! {
        @if !findings.gates.is_empty() {
            h3 { "Gates" }
            ul.gates {
                @for gate in &findings.gates {
                    li class=(gate_class(gate.state)) {
                        strong { (words::decision(gate.state)) } " " code { (gate.text) } ": " (gate.message)
                    }
                }
            }
            p.faint { "A gate names the condition under which the run fails." }
        }
    }
}

fn checks(page: &RunPage<'_>) -> Table {
    let row = |check: &truetail_run::CheckCounts| {
        let decision = words::decision(words::state_of_check(check)).to_owned();
        [check.text.clone(), decision, number::count(check.passed), number::count(check.failed)]
    };
    Table::new("Checks of each answer", ["check", "", "passed", "failed"])
        .with_words(2)
        .with_rows(page.run.facts.checks.iter().map(row))
}

fn notes(page: &RunPage<'_>) -> Markup {
    let notes = words::notes(page.run);
    html! {
        @if !notes.is_empty() {
            h3 { "Notes" }
            ul.notes {
                @for note in notes.iter().take(MAX_NOTES) { li { (clipped(note, LONGEST_NOTE)) } }
                @if notes.len() > MAX_NOTES { li { "and " (notes.len() - MAX_NOTES) " more, in run.json" } }
            }
        }
    }
}
