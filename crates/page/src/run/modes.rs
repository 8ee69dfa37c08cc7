//! Groups of slow requests that took a similar time.

use maud::html;
use truetail_report::words;

use super::page::RunPage;
use crate::document::Section;
use crate::table::Table;

/// Returns the section; `None` without groups. It is for runs that have ended.
pub(super) fn section(page: &RunPage<'_>) -> Option<Section> {
    if page.findings.modes.is_empty() {
        return None;
    }
    let content = html! {
        p {
            "These answers are apart from the others: slower, and with similar times. One cause is likely behind each group, such as a \
             retry, a timeout, a lock or a cold cache."
        }
        @for sentence in words::mode_sentences(page.findings) {
            p { (sentence) }
        }
        (Table::new("Groups of similar times", words::MODE_HEADS)
            .with_rows(words::mode_rows(page.findings).into_iter())
            .markup())
    };
    Some(Section { id: "groups", heading: "Groups of slow requests", content })
}
