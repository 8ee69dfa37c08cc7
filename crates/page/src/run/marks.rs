//! The commands that the run started, and the effect of each.

use maud::html;
use truetail_report::words;

use super::page::RunPage;
use crate::document::Section;
use crate::table::Table;

/// Returns the section; `None` without marks. It is for runs that have ended.
pub(super) fn section(page: &RunPage<'_>) -> Option<Section> {
    if page.run.facts.marks.is_empty() {
        return None;
    }
    let content = html! {
        @for sentence in words::mark_sentences(page.run, page.findings) {
            p { (sentence) }
        }
        (Table::new("Events and their effects", words::MARK_HEADS)
            .with_rows(words::mark_rows(page.run, page.findings).into_iter())
            .markup())
        p.faint {
            "A request is harmed if it was due after the event and took longer than the band of p99 from before it, or got no good \
             answer. The usual share of such requests is taken off."
        }
    };
    Some(Section { id: "events", heading: "Events", content })
}
