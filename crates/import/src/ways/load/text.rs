//! Texts with placeholders, and parts of answers.

use std::fmt::Write as _;

use crate::ways::hurl;

/// A part of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ways) enum Of {
    Whole,
    Status,
    Body,
    BodyLength,
    Headers,
    Header(String),
    Timings,
    Duration,
    Cookies,
    /// A cookie that the answer sets, as k6 lists it.
    CookieList(String),
    /// The value of a cookie.
    Cookie(String),
    /// A JSONPath in the body, without its `$`.
    Member(String),
    /// The first group of a regular expression in the body.
    Regex(String),
}

/// A part of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ways) enum Part {
    Literal(String),
    /// A variable of the flow.
    Variable(String),
    /// A value that the flow makes.
    Made(Made),
}

/// A value that the flow makes, each time anew unless a step keeps it in a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ways) struct Made {
    /// Its placeholder, such as `newUuid`.
    pub(in crate::ways) expression: String,
    /// Number of the evaluation in the script. Uses with the same number have the same value.
    pub(in crate::ways) id: usize,
}

impl Part {
    /// Returns a text without placeholders.
    pub(in crate::ways) fn literal(&self) -> Option<&str> {
        match self {
            Part::Literal(text) => Some(text),
            Part::Variable(_) | Part::Made(_) => None,
        }
    }
}

/// Writes a text in Hurl's notation: literals by `write`, and placeholders.
pub(in crate::ways) fn written(parts: &[Part], write: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => out.push_str(&write(text)),
            Part::Variable(name) | Part::Made(Made { expression: name, .. }) => {
                write!(out, "{{{{{name}}}}}").expect("a String grows")
            }
        }
    }
    out
}

/// Writes a text as a body: JSON as it is, anything else on one line.
pub(in crate::ways) fn written_body(parts: &[Part]) -> String {
    let filled: String = parts.iter().map(|part| part.literal().unwrap_or("0")).collect();
    let json = written(parts, str::to_owned);
    // A brace right before a placeholder would be read as a part of it.
    if hurl::is_plain_json(&filled) && !json.contains("{{{") {
        return json.trim().to_owned();
    }
    format!("`{}`", written(parts, hurl::quoted_part))
}

/// Returns a number as JavaScript writes it, for the numbers that people write.
pub(in crate::ways) fn number_text(number: f64) -> String {
    format!("{number}")
}

/// Returns a name of letters, digits, `-` and `_`.
pub(in crate::ways) fn plain_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let name: String = text.chars().map(plain).take(60).collect();
    if name.is_empty() { "value".to_owned() } else { name }
}

/// Returns a name with a number behind it if it is taken: `name`, `name_2`, ….
pub(in crate::ways) fn unused(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    let mut numbered = (2..).map(|number| format!("{name}_{number}"));
    if is_taken(&name) { numbered.find(|name| !is_taken(name)).expect("numbers do not end") } else { name }
}

/// Returns a step of a JSONPath: `.name`, `[0]` or `['other name']`.
pub(in crate::ways) fn path_step(key: &str) -> Option<String> {
    let is_name = |key: &str| {
        key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if is_name(key) {
        return Some(format!(".{key}"));
    }
    if !key.is_empty() && key.len() < 10 && key.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(format!("[{key}]"));
    }
    let is_plain = |c: char| c.is_ascii_graphic() && !"'\"\\{}#".contains(c) || c == ' ';
    key.chars().all(is_plain).then(|| format!("['{key}']"))
}

/// Returns seconds as a duration of a flow.
pub(in crate::ways) fn duration(seconds: f64) -> String {
    let ms = seconds * 1000.0;
    if seconds.fract() == 0.0 { format!("{seconds}s") } else { format!("{}ms", ms.round()) }
}

/// Returns the seconds of a constant duration.
pub(in crate::ways) fn seconds(duration: &str) -> Option<f64> {
    if let Some(ms) = duration.strip_suffix("ms") {
        return ms.parse::<f64>().ok().map(|ms| ms / 1000.0);
    }
    duration.strip_suffix('s')?.parse().ok()
}

/// Joins literals that follow each other.
pub(in crate::ways) fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match (out.last_mut(), part) {
            (Some(Part::Literal(before)), Part::Literal(text)) => before.push_str(&text),
            (_, part) => out.push(part),
        }
    }
    out
}
