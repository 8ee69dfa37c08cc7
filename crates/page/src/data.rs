//! Data for the script of a page: the JSON in its element `#data`, and in the updates of a live page.

use std::fmt::Write;

use serde::Serialize;
use truetail_analysis::series::RunSeries;

use crate::text::is_unprintable;

/// Version of the data, for the script.
pub const SCHEMA: &str = "truetail.page/1";

/// The runs that a page shows.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageData<'a> {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// True if the run is still in progress and updates follow.
    pub live: bool,
    /// The run of the page, followed by overlays for its percentile curve.
    pub runs: Vec<PageRun<'a>>,
}

/// A run on a page.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageRun<'a> {
    /// Name of the run in the legend.
    pub name: String,
    /// Data for its pictures.
    pub series: &'a RunSeries,
}

/// Formats `value` as JSON in one line that is safe inside an element `script`. The JSON neither ends the element nor
/// opens a comment, and has only printable characters.
pub fn script_json(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("every key is a text and every value has a JSON form");
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        // These characters occur only in strings, which have an escape for each of them.
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
