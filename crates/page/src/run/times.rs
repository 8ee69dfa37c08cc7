//! The headline table, and its explanation.

use maud::{Markup, html};
use truetail_report::words;

use super::page::RunPage;
use super::wording::{labelled, none};
use crate::document::Section;
use crate::table::Table;

pub(super) fn section(page: &RunPage<'_>) -> Section {
    Section { id: "times", heading: "Response times", content: content(page) }
}

fn content(page: &RunPage<'_>) -> Markup {
    let run = page.run;
    let findings = page.findings;
    let saturated = page.is_saturated();
    let explained = [
        words::time_spent(findings),
        words::start_delay(findings),
        words::settling(findings).filter(|_| !saturated),
        words::shadow(findings).filter(|_| !saturated),
        words::uncertainty(findings).filter(|_| !saturated),
    ];
    let load = words::load_details(run, findings).into_iter();
    let sent = [words::ticks(run), words::generator(run, findings), words::punctuality(run, findings)];
    html! {
        @if saturated { (labelled(words::capacity(findings))) } @else { (headline(page)) }
        h3 { "What explains them" }
        (labelled(explained.into_iter().flatten().chain(load).chain(sent.into_iter().flatten())))
    }
}

fn headline(page: &RunPage<'_>) -> Markup {
    let findings = page.findings;
    let times = Table::new("Response times by percentile", words::TIMES_HEADS).with_rows(words::times(findings));
    let by_status = Table::new("Response times of successes and of error statuses", words::times_by_status_heads());
    html! {
        @if times.is_empty() {
            @if findings.response_time.count == 0 { (none("There are no response times, because no request was planned.")) }
            @else { (none("There are no response times, because no request was answered.")) }
        }
        (times.markup())
        @for note in words::times_footnotes(findings) { @if !times.is_empty() { p.faint { (note) } } }
        @for note in marks(page) { p.faint { (note) } }
        (by_status.with_rows(words::times_by_status(page.run, findings)).markup())
    }
}

/// Explains the marks of the table that the summary of a run does not explain.
fn marks(page: &RunPage<'_>) -> Vec<&'static str> {
    let quantiles = &page.findings.response_time.quantiles;
    let marks = [
        (
            quantiles.iter().any(|quantile| quantile.at_least && !quantile.no_answer),
            "≥: the percentile falls among requests that timed out, were in flight at the end or were never sent; the truth is \
             that or more",
        ),
        (
            quantiles.iter().any(|quantile| quantile.no_answer),
            "no-answer: the percentile falls among requests that failed, so that no answer would ever have come",
        ),
    ];
    marks.into_iter().filter_map(|(wanted, note)| wanted.then_some(note)).collect()
}
