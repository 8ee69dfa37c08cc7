//! What every page has: head, style, script and footer.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use crate::data::script_json;
use crate::script;
use crate::text::visible;

/// The style sheet of all pages.
const STYLE: &str = include_str!("../assets/page.css");
/// What a page may load: nothing but what stands in it. A live page also asks the server that it came from.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'";

/// A page that is ready to be put together.
pub(crate) struct Document<'a, D> {
    /// What the tab of the browser says.
    pub(crate) title: &'a str,
    /// Above the sections; it holds the heading of the page.
    pub(crate) header: Markup,
    /// Sections with their ids.
    pub(crate) sections: &'a [Section],
    /// What stands at the end.
    pub(crate) footer: Markup,
    /// For the script.
    pub(crate) data: &'a D,
}

/// A section of a page.
pub(crate) struct Section {
    pub(crate) id: &'static str,
    pub(crate) heading: &'static str,
    /// All of it but the heading.
    pub(crate) content: Markup,
}

impl Section {
    /// Heading and content.
    pub(crate) fn inner(&self) -> Markup {
        html! {
            h2 id={ (self.id) "-heading" } { (self.heading) }
            (self.content)
        }
    }
}

impl<D: Serialize> Document<'_, D> {
    /// The whole text.
    pub(crate) fn html(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" data-theme="auto" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="referrer" content="no-referrer";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header { (self.header) }
                    main id="report" {
                        @for section in self.sections {
                            section id=(section.id) aria-labelledby={ (section.id) "-heading" } { (section.inner()) }
                        }
                    }
                    footer { (self.footer) }
                    script type="application/json" id="data" { (PreEscaped(script_json(self.data))) }
                    script { (PreEscaped(script::PAGE)) }
                }
            }
        };
        // Here, so that no text can be forgotten. The signs that it puts in are no markup.
        visible(&page.into_string())
    }
}

/// Links to the sections.
pub(crate) fn contents(sections: &[Section]) -> Markup {
    html! {
        nav aria-label="Contents" {
            ul {
                @for section in sections {
                    li { a href={ "#" (section.id) } { (section.heading) } }
                }
            }
        }
    }
}
