//! A scenario as a tree of keys and values: written as TOML and by serde, and read by serde.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize, Serializer};

use crate::time::{Nanos, Timestamp};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Value {
    Flag(bool),
    Whole(u64),
    Number(f64),
    Text(String),
    Wholes(Vec<u64>),
    Table(Keys),
    Tables(Vec<Keys>),
}

/// Implements the conversion of each type to a variant of [`Value`].
macro_rules! variants {
    ($($type:ty => $variant:ident;)*) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Value {
                Value::$variant(value.into())
            }
        })*
    };
}

variants! {
    bool => Flag;
    u16 => Whole;
    u32 => Whole;
    u64 => Whole;
    f64 => Number;
    &str => Text;
    Vec<u64> => Wholes;
    Keys => Table;
    Vec<Keys> => Tables;
}

impl From<Nanos> for Value {
    fn from(nanos: Nanos) -> Value {
        Value::Text(nanos.to_string())
    }
}

impl From<Timestamp> for Value {
    fn from(instant: Timestamp) -> Value {
        instant.since_origin().into()
    }
}

impl fmt::Display for Value {
    /// Writes the value in one line of TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Whole(whole) => write!(f, "{whole}"),
            // A whole number without a point would read back as an integer, and might be too long for one.
            Value::Number(number) => write!(f, "{number:?}"),
            Value::Text(text) => write!(f, "{}", quoted(text)),
            Value::Wholes(wholes) => write!(f, "{wholes:?}"),
            Value::Table(_) | Value::Tables(_) => Err(fmt::Error),
        }
    }
}

fn quoted(text: &str) -> toml::Value {
    toml::Value::String(text.to_owned())
}

/// The keys of one table, in the order of writing.
#[derive(Clone, PartialEq, Default, Debug, Deserialize)]
#[serde(from = "BTreeMap<String, Value>")]
pub(super) struct Keys(Vec<(Cow<'static, str>, Value)>);

impl From<BTreeMap<String, Value>> for Keys {
    fn from(read: BTreeMap<String, Value>) -> Keys {
        Keys(read.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl Keys {
    pub(super) fn put(&mut self, key: &'static str, value: impl Into<Value>) {
        self.0.push((key.into(), value.into()));
    }

    /// Puts a key, unless there is no value.
    pub(super) fn put_if_any(&mut self, key: &'static str, value: Option<impl Into<Value>>) {
        self.0.extend(value.map(|value| (key.into(), value.into())));
    }

    /// Returns the keys as TOML. The tables of a table come after its other keys.
    pub(super) fn to_toml(&self) -> String {
        let mut text = String::new();
        self.write_to(&mut text, "");
        text
    }

    /// Writes the keys of the table whose name is `path`, which ends in a period unless it is empty.
    fn write_to(&self, text: &mut String, path: &str) {
        let is_table = |value: &Value| matches!(value, Value::Table(_) | Value::Tables(_));
        let (tables, plain): (Vec<_>, Vec<_>) = self.0.iter().partition(|(_, value)| is_table(value));
        for (key, value) in plain {
            let _ = writeln!(text, "{} = {value}", shown(key));
        }
        for (key, value) in tables {
            let name = format!("{path}{}", shown(key));
            let mut write = |heading: String, keys: &Keys| {
                let _ = writeln!(text, "\n{heading}");
                keys.write_to(text, &format!("{name}."));
            };
            match value {
                Value::Table(keys) => write(format!("[{name}]"), keys),
                Value::Tables(all) => all.iter().for_each(|keys| write(format!("[[{name}]]"), keys)),
                _ => {}
            }
        }
    }
}

/// Returns a key in the notation of TOML: without quotes if possible.
fn shown(key: &str) -> Cow<'_, str> {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if is_bare { key.into() } else { quoted(key).to_string().into() }
}

impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
