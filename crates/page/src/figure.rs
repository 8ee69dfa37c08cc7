//! A picture with its caption and its table.

use maud::{Markup, PreEscaped, html};
use truetail_report::plot::Picture;

use crate::table::Table;

pub(crate) struct Figure<'a> {
    /// Name of the picture in the script.
    pub(crate) name: &'static str,
    /// The static picture; `None` on a live page, because the script draws it.
    pub(crate) picture: Option<Picture>,
    /// Description of the picture, and instructions for reading it.
    pub(crate) caption: &'a str,
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
