//! A page as a browser reads it.

use std::collections::BTreeSet;

use scraper::{ElementRef, Html, Selector};

/// The page, which must be valid to the last tag.
pub fn parsed(html: &str) -> Html {
    let page = Html::parse_document(html);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    page
}

/// All elements that the selector names.
pub fn all<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    page.select(&Selector::parse(selector).expect("a selector")).collect()
}

/// The text of an element.
pub fn text(element: ElementRef<'_>) -> String {
    element.text().collect()
}

/// The texts of all elements that the selector names.
pub fn texts(page: &Html, selector: &str) -> Vec<String> {
    all(page, selector).into_iter().map(text).collect()
}

/// Every element with the names of its attributes, in order: what is left of a page without its texts. Elements inside of
/// pictures are in [`drawn`].
pub fn skeleton(page: &Html) -> Vec<String> {
    all(page, "*").into_iter().filter(|element| !is_drawn(element)).map(described).collect()
}

/// The kinds of elements inside of pictures, with the names of their attributes. How many there are depends on how wide the texts
/// of legends are, because these leave more or less room for labels of axes.
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

/// The content of the element `#data`.
pub fn data(page: &Html) -> serde_json::Value {
    let json = texts(page, "script#data");
    serde_json::from_str(&json[0]).expect("JSON")
}

/// What people read of the page: the text of everything but its script and style.
pub fn visible_text(page: &Html) -> String {
    texts(page, "header, main, footer").join("\n")
}
