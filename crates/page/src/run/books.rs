//! The outcomes of all planned arrivals.

use maud::{Markup, html};
use truetail_report::{number, plot, words};

use super::page::RunPage;
use super::wording::none;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::Table;

pub(super) fn section(page: &RunPage<'_>) -> Section {
    Section { id: "books", heading: "Where every planned request went", content: content(page) }
}

fn content(page: &RunPage<'_>) -> Markup {
    let tally = &page.findings.tally;
    if tally.planned == 0 {
        return html! { (none("No request was planned, so there is nothing to account for.")) (not_measured(page)) };
    }
    let [planned, issued] = words::books(page.run, page.findings);
    html! {
        p { (planned) ". " (issued) "." }
        (Figure {
            name: "books",
            picture: plot::books(tally, &page.run.facts.source),
            caption: "Every request that was planned, and what became of it.",
            table: table(page),
        }.markup())
        (not_measured(page))
    }
}

/// Describes the arrivals that are load and nothing else.
fn not_measured(page: &RunPage<'_>) -> Markup {
    let planned = page.run.snapshot.warmup.planned;
    html! {
        @if planned > 0 { p { "The warm-up had " (number::count(planned)) " more requests, which count nowhere on this page." } }
        @if let Some(cancelled) = words::cancelled(page.run) { p { "Cancelled: " (cancelled) "." } }
    }
}

fn table(page: &RunPage<'_>) -> Table {
    let tally = &page.findings.tally;
    let share = |n: u64| number::share(n as f64 / tally.planned as f64);
    let answered = (tally.responses, "answered");
    let outcomes = std::iter::once(answered).chain(words::unanswered_outcomes(tally, &page.run.facts.source));
    let all = outcomes.chain([(tally.planned, "planned")]);
    Table::new("Planned requests by outcome", ["outcome", "requests", "share"])
        .with_rows(all.map(|(n, name)| [name.to_owned(), number::count(n), share(n)]))
}
