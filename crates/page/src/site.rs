//! The place of a page in a site.

use maud::{Markup, html};

/// The place of a page in a site of several pages.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SitePlace {
    /// Links above the heading: text and address.
    pub links: Vec<(String, String)>,
    /// Name of this page after the links.
    pub here: Option<String>,
    /// Address of the events with updates of this page, if it has any.
    pub events: Option<String>,
    /// True if the page has forms that ask its own server.
    pub has_forms: bool,
}

impl SitePlace {
    pub(crate) fn markup(&self) -> Markup {
        html! {
            @if !self.links.is_empty() {
                nav.site aria-label="Site" {
                    ul {
                        @for (text, address) in &self.links { li { a href=(address) { (text) } } }
                        @if let Some(here) = &self.here { li { span.faint aria-current="page" { (here) } } }
                    }
                }
            }
        }
    }
}
