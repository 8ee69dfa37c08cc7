//! A picture with its caption and its table.

use maud::{Markup, PreEscaped, html};
use truetail_report::plot::Picture;

use crate::table::Table;

/// A picture on a page.
pub(crate) struct Figure<'a> {
    /// What the script calls it.
    pub(crate) name: &'static str,
    /// As it is drawn without the script; `None` on a live page, where the script draws.
    pub(crate) picture: Option<Picture>,
    /// What it shows, and how to read it.
    pub(crate) caption: &'a str,
    /// The same in numbers.
    pub(crate) table: Table,
}

impl Figure<'_> {
    pub(crate) fn markup(&self) -> Markup {
        html! {
            figure data-picture=(self.name) {
                div.picture {
                    @if let Some(picture) = &self.picture { (PreEscaped(picture.svg())) }
                }
                figcaption { (self.caption) }
                @if !self.table.is_empty() {
                    details.data {
                        summary { "Table" }
                        (self.table.markup())
                    }
                }
            }
        }
    }
}
