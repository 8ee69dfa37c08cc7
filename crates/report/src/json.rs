//! JSON for programs.

use serde::Serialize;

/// Returns `value` as indented JSON with a newline at its end.
pub fn pretty_json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("every key is a string and every value has a JSON form") + "\n"
}
