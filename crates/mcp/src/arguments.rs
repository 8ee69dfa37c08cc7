//! Arguments of a tool.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Reads the arguments of a tool. Without any, they are an empty object.
///
/// # Errors
/// With one line that names the argument.
pub(crate) fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    let given = if arguments.is_null() { Value::Object(Map::new()) } else { arguments.clone() };
    serde_json::from_value(given).map_err(|error| {
        let line: String = error.to_string().chars().filter(|letter| !letter.is_control()).take(300).collect();
        format!("the arguments are not valid: {line}")
    })
}

/// Appends `--name=value`: one word, so that a value is never read as an option.
pub(crate) fn option(words: &mut Vec<String>, name: &str, value: impl std::fmt::Display) {
    words.push(format!("--{name}={value}"));
}
