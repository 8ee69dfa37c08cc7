//! What the script of a page reads: the JSON in its element `#data`, and in the updates of a live page.

use std::fmt::Write;

use serde::Serialize;
use truetail_analysis::series::RunSeries;

use crate::text::is_unprintable;

/// The version of the data, for the script.
pub const SCHEMA: &str = "truetail.page/1";

/// The runs that a page shows.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageData<'a> {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The run is going on, and updates follow.
    pub live: bool,
    /// The run that the page is about, and then others that are laid over its percentile curve.
    pub runs: Vec<PageRun<'a>>,
}

/// A run on a page.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageRun<'a> {
    /// What the legend calls it.
    pub name: String,
    /// What is drawn of it.
    pub series: &'a RunSeries,
}

/// `value` as JSON in one line, which may stand inside an element `script`: nothing in it ends the element or opens a
/// comment, and it has no character that is not printable.
pub fn script_json(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("every key is a text and every value has a JSON form");
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        // These can only stand in a text, where JSON knows an escape for each.
        if c == '<' || is_unprintable(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                write!(safe, "\\u{unit:04x}").expect("a String takes everything");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_comes_back_and_ends_no_element(text in any::<String>()) {
            let json = script_json(&[&text, "</script><!--<script>\u{2028}\u{202e}\u{10ffff}"]);
            prop_assert!(!json.contains('<') && !json.chars().any(is_unprintable));
            let back: Vec<String> = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&back[0], &text);
        }
    }
}
