//! A page with a sentence.

use maud::html;

use super::list::footer;
use crate::document::Document;
use crate::site::SitePlace;

/// Returns a page that says why there is no other, with a way back in `site`.
pub fn message_page(title: &str, sentence: &str, site: &SitePlace) -> String {
    let header = html! { h1 { (title) } p { (sentence) } };
    let title = format!("{title} – truetail");
    Document { title: &title, header, sections: &[], footer: footer(), live: None, site: Some(site) }.html()
}
