//! The slowest requests.

use maud::html;
use truetail_report::words;

use super::page::RunPage;
use crate::document::Section;
use crate::table::Table;
use crate::text::clipped;

const LONGEST_TARGET: usize = 80;
/// Number of columns with words: when it was due, the target, the answer and the trace id.
const WORDS: usize = 4;

/// Returns the section; `None` if no request was sent, or the run does not list them. A live page always has it.
pub(super) fn section(page: &RunPage<'_>) -> Option<Section> {
    let slowest = &page.findings.slowest;
    let mut rows = words::slowest_rows(page.run, page.findings);
    if rows.is_empty() && !page.live {
        return None;
    }
    rows.iter_mut().for_each(|row| row[1] = clipped(&row[1], LONGEST_TARGET));
    let table = Table::new("Slowest requests", words::slowest_heads(page.findings)).with_words(WORDS).with_rows(rows);
    let has_ids = slowest.iter().any(|request| request.trace_id.is_some());
    let table = if has_ids { table } else { table.without_column(WORDS - 1) };
    let links: Vec<(usize, String)> = slowest
        .iter()
        .enumerate()
        .filter_map(|(nth, request)| Some((nth + 1, words::link(page.run, request)?)))
        .collect();
    let content = html! {
        p { "The parts of a row add up to its response time. Times count from the start of the schedule." }
        (table.without_empty_columns().markup())
        @if !links.is_empty() {
            p {
                "Traces: "
                @for (nth, link) in &links {
                    a href=(link) rel="noreferrer noopener" { "row " (nth) } " "
                }
            }
        }
    };
    Some(Section { id: "slowest", heading: "Slowest requests", content })
}
