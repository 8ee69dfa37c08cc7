//! Where the time went, with the times that the service reported.

use maud::html;
use truetail_report::{number, plot, words};
use truetail_run::ReportedPart;

use super::page::RunPage;
use super::wording::none;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::Table;

/// Returns the section; `None` if the run read no times of the service. It is for runs that have ended.
pub(super) fn section(page: &RunPage<'_>) -> Option<Section> {
    page.run.facts.server_timing.as_ref()?;
    let findings = page.findings;
    let sentences = words::ledger_sentences(page.run, findings);
    let table = Table::new("Mean parts of the response times", words::ledger_heads(findings));
    let content = html! {
        @if findings.ledger.is_empty() {
            (none("The run has too few answers with reported times for parts of its percentiles."))
        } @else {
            (Figure {
                name: "ledger",
                picture: plot::ledger(findings),
                caption: "Each bar is about the answers within half a per cent of the percentile's rank. A part does not include \
                          the parts inside it. Unattributed is the service time that no reported time explains: network, and \
                          queues before the service's own clock.",
                table: table.with_rows(words::ledger_rows(findings)),
            }.markup())
        }
        @for sentence in &sentences {
            p { (sentence) }
        }
        @if !findings.reported_parts.is_empty() {
            (Table::new("Times that the service reported", ["name", "answers", "mean", "p50", "p99", "max"])
                .with_rows(findings.reported_parts.iter().map(row))
                .markup())
        }
    };
    Some(Section { id: "ledger", heading: "Where the time went", content })
}

fn row(part: &ReportedPart) -> Vec<String> {
    let quantile = |q: f64| {
        let known = part.quantiles.iter().find(|quantile| quantile.q == q);
        known.map_or("–".to_owned(), |quantile| number::time(quantile.value_ns))
    };
    let mean = number::time(part.mean_ns.max(0.0).round() as u64);
    let numbers = [number::count(part.count), mean, quantile(0.5), quantile(0.99), number::time(part.max_ns)];
    [part.name.clone()].into_iter().chain(numbers).collect()
}
