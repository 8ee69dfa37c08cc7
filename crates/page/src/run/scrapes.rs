//! The numbers that services published about themselves.

use maud::html;
use truetail_analysis::series::{ServiceLane, service_lanes};
use truetail_report::{number, plot, words};

use super::page::RunPage;
use super::wording::none;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::Table;

/// Returns the section; `None` if no service was read. It is for runs that have ended.
pub(super) fn section(page: &RunPage<'_>) -> Option<Section> {
    if page.run.facts.scrapes.is_empty() {
        return None;
    }
    let lanes = service_lanes(page.run, &page.series.time);
    let rows = words::scrape_rows(page.run, page.findings);
    let messages = words::scrape_messages(page.run, page.findings);
    let content = html! {
        p {
            "A service measures a request from its own first line of code to its last one, and sorts the times into buckets. What \
             waits before that, and what fails, is not in its numbers."
        }
        @for message in &messages {
            p { (message) }
        }
        @if !rows.is_empty() {
            (Table::new("Request times of the service beside those of its users", words::SCRAPE_HEADS)
                .with_rows(rows.into_iter())
                .markup())
        }
        @for sentence in words::scrape_sentences(page.run) {
            p.faint { (sentence) }
        }
        @if lanes.is_empty() {
            (none("No counter or gauge of the service that is drawn changed during the run. Choose others with --scrape-show."))
        } @else {
            (Figure {
                name: "service",
                picture: plot::service_lanes(&lanes, page.series),
                caption: "Counters by their increase per second and gauges by their values, on the axis of the run over time.",
                table: Table::new("Lowest and highest values", ["series", "lowest", "highest"])
                    .with_rows(lanes.iter().map(row)),
            }.markup())
        }
    };
    Some(Section { id: "service", heading: "The service's own numbers", content })
}

fn row(lane: &ServiceLane) -> [String; 3] {
    let values = || lane.values.iter().flatten().copied();
    let name = if lane.per_second { format!("{}, per second", lane.name) } else { lane.name.clone() };
    let [lowest, highest] = [values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)];
    [name, number::of_any_size(lowest), number::of_any_size(highest)]
}
