//! Keys and values of one table of a scenario, for writing.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::time::Nanos;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Value {
    Flag(bool),
    Whole(u64),
    Number(f64),
    Text(String),
    Wholes(Vec<u64>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<Nanos> for Value {
    fn from(nanos: Nanos) -> Value {
        Value::Text(nanos.to_string())
    }
}

impl fmt::Display for Value {
    /// Writes the value as TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Whole(whole) => write!(f, "{whole}"),
            // A whole number without a point would read back as an integer, and might be too long for one.
            Value::Number(number) => write!(f, "{number:?}"),
            Value::Text(text) => write!(f, "{}", toml::Value::String(text.clone())),
            Value::Wholes(wholes) => write!(f, "{wholes:?}"),
        }
    }
}

/// The keys of one table, in the order of writing.
#[derive(Default)]
pub(super) struct Keys(Vec<(&'static str, Value)>);

impl Keys {
    pub(super) fn put(&mut self, key: &'static str, value: impl Into<Value>) {
        self.0.push((key, value.into()));
    }

    pub(super) fn put_whole(&mut self, key: &'static str, value: impl Into<u64>) {
        self.0.push((key, Value::Whole(value.into())));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(&'static str, Value)> {
        self.0.iter()
    }
}

impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
