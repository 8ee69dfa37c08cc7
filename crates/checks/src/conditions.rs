//! Conditions on a status, a text, a JSON value.

use std::cmp::Ordering;
use std::fmt;

use memchr::memmem::Finder;
use regex::bytes::Regex;
use serde_json::{Number, Value};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum NumberTest {
    Less(f64),
    AtMost(f64),
    More(f64),
    AtLeast(f64),
    /// At least the first and at most the second number.
    In(f64, f64),
}

impl NumberTest {
    pub(crate) fn holds(&self, number: f64) -> bool {
        match *self {
            NumberTest::Less(limit) => number < limit,
            NumberTest::AtMost(limit) => number <= limit,
            NumberTest::More(limit) => number > limit,
            NumberTest::AtLeast(limit) => number >= limit,
            NumberTest::In(low, high) => (low..=high).contains(&number),
        }
    }
}

impl fmt::Display for NumberTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NumberTest::Less(limit) => write!(f, "< {limit}"),
            NumberTest::AtMost(limit) => write!(f, "<= {limit}"),
            NumberTest::More(limit) => write!(f, "> {limit}"),
            NumberTest::AtLeast(limit) => write!(f, ">= {limit}"),
            NumberTest::In(low, high) => write!(f, "in {low}..{high}"),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum StatusTest {
    Equal(u16),
    Number(NumberTest),
}

impl StatusTest {
    pub(crate) fn holds(&self, status: u16) -> bool {
        match self {
            StatusTest::Equal(expected) => status == *expected,
            StatusTest::Number(test) => test.holds(f64::from(status)),
        }
    }
}

impl fmt::Display for StatusTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatusTest::Equal(expected) => write!(f, "== {expected}"),
            StatusTest::Number(test) => test.fmt(f),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum TextTest {
    Equal(String),
    /// The text, and a prepared search for it.
    Contains(String, Box<Finder<'static>>),
    StartsWith(String),
    EndsWith(String),
    Matches(Regex),
}

impl TextTest {
    pub(crate) fn contains(text: String) -> TextTest {
        let finder = Finder::new(&text).into_owned();
        TextTest::Contains(text, Box::new(finder))
    }

    pub(crate) fn holds(&self, text: &[u8]) -> bool {
        match self {
            TextTest::Equal(expected) => text == expected.as_bytes(),
            TextTest::Contains(_, finder) => finder.find(text).is_some(),
            TextTest::StartsWith(start) => text.starts_with(start.as_bytes()),
            TextTest::EndsWith(end) => text.ends_with(end.as_bytes()),
            TextTest::Matches(regex) => regex.is_match(text),
        }
    }
}

impl fmt::Display for TextTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextTest::Equal(text) => write!(f, "== {}", Quoted(text)),
            TextTest::Contains(text, _) => write!(f, "contains {}", Quoted(text)),
            TextTest::StartsWith(text) => write!(f, "startsWith {}", Quoted(text)),
            TextTest::EndsWith(text) => write!(f, "endsWith {}", Quoted(text)),
            TextTest::Matches(regex) => write!(f, "matches /{}/", regex.as_str().replace('/', "\\/")),
        }
    }
}

/// Displays a text in double quotes, with the escapes of JSON.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Value::from(self.0))
    }
}

#[derive(Clone, Debug)]
pub(crate) enum JsonTest {
    Exists,
    Equal(Value),
    Contains(Value),
    Number(NumberTest),
    /// A test of [`TextTest`] that has no variant here.
    Text(TextTest),
}

impl JsonTest {
    /// Returns whether the test holds for a value, or `None` if it does not apply to a value of this kind.
    pub(crate) fn holds(&self, value: &Value) -> Option<bool> {
        match (self, value) {
            (JsonTest::Exists, _) => Some(true),
            (JsonTest::Equal(expected), _) => Some(equal(value, expected)),
            (JsonTest::Contains(part), Value::Array(items)) => Some(items.iter().any(|item| equal(item, part))),
            (JsonTest::Contains(Value::String(part)), Value::String(text)) => Some(text.contains(part)),
            (JsonTest::Contains(part), Value::String(text)) => Some(text.contains(&part.to_string())),
            (JsonTest::Number(test), Value::Number(number)) => number.as_f64().map(|number| test.holds(number)),
            (JsonTest::Text(test), Value::String(text)) => Some(test.holds(text.as_bytes())),
            (JsonTest::Contains(_) | JsonTest::Number(_) | JsonTest::Text(_), _) => None,
        }
    }

    /// Returns whether the test holds for several values, which count as a list.
    pub(crate) fn holds_for_all(&self, values: &[&Value]) -> Option<bool> {
        match self {
            JsonTest::Exists => Some(true),
            JsonTest::Equal(Value::Array(expected)) => Some(
                values.len() == expected.len() && values.iter().zip(expected).all(|(value, other)| equal(value, other)),
            ),
            JsonTest::Equal(_) => Some(false),
            JsonTest::Contains(part) => Some(values.iter().any(|value| equal(value, part))),
            JsonTest::Number(_) | JsonTest::Text(_) => None,
        }
    }
}

impl fmt::Display for JsonTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonTest::Exists => f.write_str("exists"),
            JsonTest::Equal(value) => write!(f, "== {value}"),
            JsonTest::Contains(value) => write!(f, "contains {value}"),
            JsonTest::Number(test) => test.fmt(f),
            JsonTest::Text(test) => test.fmt(f),
        }
    }
}

/// Compares JSON values; numbers by their value, so that 7 equals 7.0.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => equal_numbers(a, b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => a == b,
    }
}

fn equal_numbers(a: &Number, b: &Number) -> bool {
    let is_whole = |number: &Number| number.is_i64() || number.is_u64();
    // Floating-point numbers cannot distinguish whole numbers above 2^53.
    if is_whole(a) && is_whole(b) {
        return a == b;
    }
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.partial_cmp(&b) == Some(Ordering::Equal),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_equal_by_value() {
        assert!(equal(&json!(7), &json!(7.0)) && equal(&json!([{"a": 0.5}]), &json!([{"a": 5e-1}])));
        assert!(equal(&json!(u64::MAX), &json!(u64::MAX)) && !equal(&json!(u64::MAX), &json!(u64::MAX - 1)));
        assert!(!equal(&json!(7), &json!("7")) && !equal(&json!({"a": 1}), &json!({"b": 1})));
    }

    #[test]
    fn what_cannot_be_asked_of_a_value_is_neither_true_nor_false() {
        let more = JsonTest::Number(NumberTest::More(1.0));
        assert_eq!(
            (more.holds(&json!(2)), more.holds(&json!(1)), more.holds(&json!("2"))),
            (Some(true), Some(false), None)
        );
        let contains = JsonTest::Contains(json!(7));
        assert_eq!((contains.holds(&json!([1, 7])), contains.holds(&json!("a7"))), (Some(true), Some(true)));
        assert_eq!((contains.holds(&json!(7)), contains.holds(&json!({"a": 7}))), (None, None));
    }
}
