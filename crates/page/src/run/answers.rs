//! The answers: statuses, errors, and the first answers that failed a check.

use maud::{Markup, html};
use truetail_report::{number, plot, words};
use truetail_run::FailedAnswer;

use super::page::RunPage;
use super::wording::{none, seconds};
use crate::document::Section;
use crate::figure::Figure;
use crate::table::Table;
use crate::text::clipped;

/// Maximum number of failed answers on the page. Their file has all of them.
const MAX_FAILED_ANSWERS: usize = 20;
/// Maximum length of a header or a body on the page, in characters.
const LONGEST_TEXT: usize = 4_096;
/// Maximum number of bytes that a run keeps of a body.
const KEPT_OF_A_BODY: u64 = 4_096;
/// Maximum number of header fields per answer on the page.
const MAX_HEADERS: usize = 50;

pub(super) fn section(page: &RunPage<'_>) -> Section {
    Section { id: "answers", heading: "Answers and errors", content: content(page) }
}

fn content(page: &RunPage<'_>) -> Markup {
    let run = page.run;
    let findings = page.findings;
    let statuses = statuses(page);
    html! {
        p { (words::answer_shares(run, findings)) "." }
        @if statuses.is_empty() { (none("No request was answered.")) }
        @if !statuses.is_empty() || !run.snapshot.causes.is_empty() {
            (Figure {
                name: "answers",
                picture: plot::answers(run),
                caption: "Answers and failures: what came back, and why some requests got no answer.",
                table: statuses,
            }.markup())
        }
        (errors(page).markup())
        (failed_answers(&run.facts.failed_answers))
    }
}

fn statuses(page: &RunPage<'_>) -> Table {
    let planned = page.findings.tally.planned.max(1) as f64;
    let snapshot = &page.run.snapshot;
    let row = |name: String, n: u64| [name, number::count(n), number::share(n as f64 / planned)];
    let without = Some(snapshot.answers_without_status()).filter(|n| *n > 0);
    let without = without.map(|n| row("answered, without a status".to_owned(), n));
    let with = snapshot.statuses.iter().map(|(status, n)| row(words::status_of(page.run, *status), *n));
    Table::new("Answers by status", ["status", "answers", "share of requests"])
        .with_rows(without.into_iter().chain(with))
}

fn errors(page: &RunPage<'_>) -> Table {
    let mut causes: Vec<_> = page.run.snapshot.causes.iter().collect();
    causes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    Table::new("Errors by cause", ["cause", "requests"])
        .with_rows(causes.into_iter().map(|(cause, n)| [cause.describe().to_string(), number::count(*n)]))
}

fn failed_answers(answers: &[FailedAnswer]) -> Markup {
    html! {
        @if !answers.is_empty() {
            h3 { "The first answers that failed a check" }
            @for answer in answers.iter().take(MAX_FAILED_ANSWERS) { (failed_answer(answer)) }
            @if answers.len() > MAX_FAILED_ANSWERS {
                p { "and " (answers.len() - MAX_FAILED_ANSWERS) " more, in failed-answers.jsonl" }
            }
        }
    }
}

fn failed_answer(answer: &FailedAnswer) -> Markup {
    let due = seconds(answer.intended_start_ns as f64 / 1e9);
    let body = clipped(&answer.body, LONGEST_TEXT);
    html! {
        details.answer {
            summary { (answer.status.map_or_else(|| "Answer".to_owned(), |status| format!("Status {status}"))) " to " (clipped(&answer.target, LONGEST_TEXT)) ", due at " (due) " s" }
            ul {
                @for failed in &answer.failed {
                    li { code { (failed.check) } ": " (clipped(&failed.why, LONGEST_TEXT)) }
                }
            }
            @if !answer.headers.is_empty() {
                p { "Header fields" @if answer.headers.len() > MAX_HEADERS { ", the first " (MAX_HEADERS) } ":" }
                pre { code { @for header in answer.headers.iter().take(MAX_HEADERS) { (clipped(header, LONGEST_TEXT)) "\n" } } }
            }
            @if answer.body.is_empty() {
                p { "Its body was empty." }
            } @else {
                p { "Its body" @if answer.body_bytes > KEPT_OF_A_BODY { ", the first 4 KiB of " (answer.body_bytes) " bytes" } ":" }
                pre { code { (body) } }
            }
        }
    }
}
