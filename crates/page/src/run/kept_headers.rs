//! Response times by the value of a response header.

use maud::html;
use truetail_report::words;

use super::page::RunPage;
use crate::document::Section;
use crate::table::Table;

/// Returns the section; `None` if the run keeps no headers. It is for runs that have ended.
pub(super) fn section(page: &RunPage<'_>) -> Option<Section> {
    page.run.facts.kept_headers.as_ref()?;
    let content = html! {
        p {
            "Response times of the answers with each value, over the requests that the run keeps."
        }
        @for (name, groups) in words::header_groups(page.run, page.findings) {
            (Table::new(format!("Response times by {name}"), words::header_heads(name))
                .with_rows(words::header_rows(groups))
                .markup())
        }
    };
    Some(Section { id: "headers", heading: "By response header", content })
}
