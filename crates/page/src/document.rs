//! The frame of every page: head, style, script and footer.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::script;
use crate::site::SitePlace;
use crate::text::visible;

const STYLE: &str = include_str!("../assets/page.css");
/// Style of pages in a site, after the common one.
const SITE_STYLE: &str = include_str!("../assets/browse.css");
/// Content security policy: a page loads nothing from elsewhere. A live page may also query its own server.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; \
                      connect-src 'self'; base-uri 'none'; form-action ";

pub(crate) struct Document<'a> {
    pub(crate) title: &'a str,
    /// Content above the sections, with the heading of the page.
    pub(crate) header: Markup,
    pub(crate) sections: &'a [Section],
    /// Content at the end.
    pub(crate) footer: Markup,
    /// Address of the events with its updates, if it has any.
    pub(crate) live: Option<&'a str>,
    /// Place of the page in a site, if it is in one.
    pub(crate) site: Option<&'a SitePlace>,
}

pub(crate) struct Section {
    pub(crate) id: &'static str,
    pub(crate) heading: &'static str,
    /// Content without the heading.
    pub(crate) content: Markup,
}

impl Section {
    /// Returns heading and content.
    pub(crate) fn inner(&self) -> Markup {
        html! {
            h2 id={ (self.id) "-heading" } { (self.heading) }
            (self.content)
        }
    }
}

impl Document<'_> {
    pub(crate) fn html(&self) -> String {
        let has_forms = self.site.is_some_and(|site| site.has_forms);
        // Without a referrer within its site, a browser would send its forms without their origin.
        let (forms, referrer) = if has_forms { ("'self'", "same-origin") } else { ("'none'", "no-referrer") };
        let policy = format!("{POLICY}{forms}");
        let page = html! {
            (DOCTYPE)
            html lang="en" data-theme="auto" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="referrer" content=(referrer);
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                    @if self.site.is_some() { style { (PreEscaped(SITE_STYLE)) } }
                }
                body {
                    header {
                        @if let Some(site) = self.site { (site.markup()) }
                        (self.header)
                    }
                    main id="report" data-live=[self.live] {
                        @for section in self.sections {
                            section id=(section.id) aria-labelledby={ (section.id) "-heading" } { (section.inner()) }
                        }
                    }
                    footer { (self.footer) }
                    script { (PreEscaped(script::PAGE)) }
                }
            }
        };
        // Applied here so that no text can be forgotten. The inserted characters are not markup.
        visible(&page.into_string())
    }
}

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
