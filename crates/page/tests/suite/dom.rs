//! A page as a browser parses it.

use std::collections::BTreeSet;

use scraper::{ElementRef, Html, Selector};

/// Parses a page, which must be valid.
pub fn parsed(html: &str) -> Html {
    let page = Html::parse_document(html);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    page
}

pub fn all<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    page.select(&Selector::parse(selector).expect("a selector")).collect()
}

pub fn text(element: ElementRef<'_>) -> String {
    element.text().collect()
}

/// Returns the texts of all elements that match the selector.
pub fn texts(page: &Html, selector: &str) -> Vec<String> {
    all(page, selector).into_iter().map(text).collect()
}

/// Returns every element outside pictures with the names of its attributes, in order, but without texts.
pub fn skeleton(page: &Html) -> Vec<String> {
    all(page, "*").into_iter().filter(|element| !is_drawn(element)).map(described).collect()
}

/// Returns the kinds of elements inside pictures, with the names of their attributes. Their number depends on the width
/// of the legends, which leave more or less room for labels of axes.
pub fn drawn(page: &Html) -> BTreeSet<String> {
    all(page, "svg *").into_iter().map(described).collect()
}

fn is_drawn(element: &ElementRef<'_>) -> bool {
    element.ancestors().filter_map(ElementRef::wrap).any(|above| above.value().name() == "svg")
}

fn described(element: ElementRef<'_>) -> String {
    let mut attributes: Vec<&str> = element.value().attrs().map(|(name, _)| name).collect();
    attributes.sort_unstable();
    format!("{} {}", element.value().name(), attributes.join(" "))
}

/// Returns the data with which a picture is read at a cursor; `None` if it cannot be read.
pub fn reading(page: &Html, picture: &str) -> Option<serde_json::Value> {
    let json =
        texts(page, &format!("figure[data-picture=\"{picture}\"] > .picture > script[type=\"application/json\"]"));
    json.first().map(|json| serde_json::from_str(json).expect("JSON"))
}

/// Returns the texts of a reading that are joined.
pub fn split(joined: &serde_json::Value) -> Vec<&str> {
    joined.as_str().expect("a text").split('|').collect()
}

/// Returns the visible text of the page, without its script and style.
pub fn visible_text(page: &Html) -> String {
    texts(page, "header, main, footer").join("\n")
}
