//! Variables of a collection, under names that a flow can have.

use std::collections::{BTreeMap, BTreeSet};

use truetail_requests::placeholders;

use crate::ways::hurl;

/// Postman's values that change each time, and what a flow has in their place.
const DYNAMIC: [(&str, &str); 5] = [
    ("$guid", "newUuid"),
    ("$randomUUID", "newUuid"),
    ("$isoTimestamp", "newDate"),
    ("$randomInt", "randomInt 0 1000"),
    ("$randomBoolean", "randomChoice true false"),
];

/// The variables that requests name.
#[derive(Default)]
pub(super) struct Variables {
    /// Values in the collection, by the name in the flow.
    given: BTreeMap<String, String>,
    used: BTreeSet<String>,
    captured: BTreeSet<String>,
}

impl Variables {
    /// Adds a variable of the collection.
    pub(super) fn give(&mut self, key: &str, value: String) {
        self.given.insert(name(key), value);
    }

    /// Records that an answer sets a variable. Returns its name in the flow.
    pub(super) fn capture(&mut self, key: &str) -> String {
        let name = name(key);
        self.captured.insert(name.clone());
        name
    }

    /// Writes a text in Hurl's notation: its placeholders, and everything else by `write`.
    pub(super) fn written(&mut self, text: &str, write: impl Fn(&str) -> String) -> String {
        let mut out = String::new();
        let mut from = 0;
        for found in placeholders(text.as_bytes()) {
            out += &write(&text[from..found.start]);
            out += &self.placeholder(found.name);
            from = found.end;
        }
        out + &write(&text[from..])
    }

    /// Writes a body: JSON with its placeholders, or any other text on one line.
    pub(super) fn body(&mut self, text: &str) -> String {
        let json = self.written(text.trim(), str::to_owned);
        // A brace right before a placeholder would be read as a part of it.
        if hurl::is_plain_json(&in_json(text)) && !json.contains("{{{") {
            return json;
        }
        format!("`{}`", self.written(text, hurl::quoted_part))
    }

    fn placeholder(&mut self, key: &str) -> String {
        if let Some((_, ours)) = DYNAMIC.iter().find(|(theirs, _)| *theirs == key) {
            return format!("{{{{{ours}}}}}");
        }
        let name = name(key);
        self.used.insert(name.clone());
        format!("{{{{{name}}}}}")
    }

    /// Returns the used variables that the collection gives, with their values.
    pub(super) fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        let used = self.given.iter().filter(|(name, _)| self.used.contains(*name));
        used.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the used variables that have a value neither in the collection nor from an answer.
    pub(super) fn missing(&self) -> Vec<String> {
        let is_missing = |name: &&String| !self.given.contains_key(*name) && !self.captured.contains(*name);
        self.used.iter().filter(is_missing).cloned().collect()
    }
}

/// Returns a name of letters, digits, `-` and `_` for a key.
fn name(key: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let name: String = key.trim_start_matches('$').chars().map(plain).take(100).collect();
    if name.is_empty() { "variable".to_owned() } else { name }
}

/// Returns a JSON text with a value in place of each placeholder.
fn in_json(text: &str) -> String {
    let mut out = String::new();
    let mut from = 0;
    for found in placeholders(text.as_bytes()) {
        out += &text[from..found.start];
        // A number is a value outside of quotes, and a text within.
        out += "0";
        from = found.end;
    }
    out + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brace_before_a_placeholder_is_no_part_of_it() {
        for (text, written) in [
            (r#"{"size":{{size}}}"#, r#"{"size":{{size}}}"#),
            (r#"{"set":"{{{size}}}"}"#, r#"`{"set":"\u{7b}{{size}}}"}`"#),
            ("{{{size}}}", r"`\u{7b}{{size}}}`"),
        ] {
            assert_eq!(Variables::default().body(text), written, "{text}");
        }
    }
}
