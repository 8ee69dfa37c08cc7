//! A picture with its caption and its table.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use truetail_report::plot::Picture;

use crate::table::Table;
use crate::text::is_unprintable;

pub(crate) struct Figure<'a> {
    /// Name of the picture in the script.
    pub(crate) name: &'static str,
    pub(crate) picture: Picture,
    /// Description of the picture, and instructions for reading it.
    pub(crate) caption: &'a str,
    pub(crate) table: Table,
}

/// Returns a picture, and the data with which the script reads its values and zooms into it.
pub(crate) fn drawn(picture: &Picture) -> Markup {
    html! {
        (PreEscaped(picture.svg()))
        @if let Some(reading) = picture.reading() {
            script type="application/json" { (PreEscaped(script_json(reading))) }
        }
    }
}

impl Figure<'_> {
    pub(crate) fn markup(&self) -> Markup {
        html! {
            figure data-picture=(self.name) {
                div.picture { (drawn(&self.picture)) }
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

/// Formats `value` as JSON in one line that is safe inside an element `script`. The JSON neither ends the element nor
/// opens a comment, and has only printable characters.
pub(crate) fn script_json(value: &impl Serialize) -> String {
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
