//! Formatting of JSON values as readable YAML.

use serde_json::Value;

/// Words that YAML 1.1 does not read as strings.
const NOT_TEXTS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];

/// Formats `value` as a YAML document.
pub fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    block(value, 0, &mut out);
    out
}

/// Appends the value as lines with this indentation, including the last line break.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                out.push_str(&" ".repeat(indent));
                out.push_str(&text(key));
                out.push(':');
                // A list is not indented deeper than its key.
                let deeper = if value.is_array() { indent } else { indent + 2 };
                beside_or_below(value, deeper, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let mut lines = String::new();
                block(item, indent + 2, &mut lines);
                out.push_str(&format!("{}- {}", " ".repeat(indent), lines.trim_start()));
            }
        }
        single => out.push_str(&format!("{}{}\n", " ".repeat(indent), scalar(single))),
    }
}

fn beside_or_below(value: &Value, indent: usize, out: &mut String) {
    let is_block =
        value.as_object().is_some_and(|map| !map.is_empty()) || value.as_array().is_some_and(|list| !list.is_empty());
    if is_block {
        out.push('\n');
        block(value, indent, out);
    } else {
        out.push_str(&format!(" {}\n", scalar(value)));
    }
}

/// Formats a scalar, an empty map or an empty list.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(string) => text(string),
        other => other.to_string(),
    }
}

/// Formats a string without quotes if every parser reads it as one. Otherwise quotes it and escapes all but printable
/// ASCII.
fn text(text: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    if begins_well && text.chars().all(bare) && !NOT_TEXTS.contains(&text.to_ascii_lowercase().as_str()) {
        return text.to_owned();
    }
    let escaped = text.chars().map(|c| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        ' '..='~' => c.to_string(),
        c => format!("\\U{:08x}", u32::from(c)),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::to_yaml;

    #[test]
    fn it_reads_like_a_manifest() {
        let value = json!({"a": {"b": [1, {"c": "x", "d": []}, ["y"]], "e": {}}, "n": "no", "t": "it's: \"1\"\n"});
        let text = "\
a:
  b:
  - 1
  - c: x
    d: []
  - - \"y\"
  e: {}
\"n\": \"no\"
t: \"it's: \\\"1\\\"\\U0000000a\"
";
        assert_eq!(to_yaml(&value), text);
    }
}
