//! YAML reader that keeps the notation of numbers: a postal code such as 01067 becomes text if its schema is a string.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Marks a number whose value has another notation: mark, number as written, mark, value.
const MARK: char = '\0';

/// A number in YAML notation that differs from JSON's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AsWritten<'a> {
    /// The number as written: `01067`, `1.10`, `0x1F`.
    pub(super) text: &'a str,
    value: &'a str,
}

/// Returns the number that a text of the document contains, if it is marked.
pub(super) fn number_as_written(text: &str) -> Option<AsWritten<'_>> {
    let (text, value) = text.strip_prefix(MARK)?.split_once(MARK)?;
    Some(AsWritten { text, value })
}

impl<'a> AsWritten<'a> {
    /// Returns the number for JSON: as written if that is valid JSON, or else its value.
    pub(super) fn json(self) -> &'a str {
        if serde_json::from_str::<IgnoredAny>(self.text).is_ok() { self.text } else { self.value }
    }
}

/// Reads a document.
pub(super) fn read(text: &str) -> Result<Value, String> {
    // OpenAPI uses YAML 1.2, in which n and yes are not booleans but, for example, names of fields.
    let options = || serde_saphyr::options! { strict_booleans: true };
    let typed: Value = serde_saphyr::from_str_with_options(text, options()).map_err(|error| error.to_string())?;
    serde_saphyr::with_deserializer_from_str_with_options(text, options(), |reader| AsIn(&typed).deserialize(reader))
        .map_err(|error| error.to_string())
}

/// Second reader of a value, whose type the first reader has found.
struct AsIn<'v>(&'v Value);

impl<'de> DeserializeSeed<'de> for AsIn<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        match self.0 {
            Value::Object(_) => reader.deserialize_map(self),
            Value::Array(_) => reader.deserialize_seq(self),
            Value::Number(_) => reader.deserialize_string(self),
            Value::String(text) => {
                let text = text.replace(MARK, "\u{fffd}");
                IgnoredAny::deserialize(reader).map(|_| Value::from(text))
            }
            Value::Null | Value::Bool(_) => IgnoredAny::deserialize(reader).map(|_| self.0.clone()),
        }
    }
}

impl<'de> Visitor<'de> for AsIn<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the same value again")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let typed = self.0.get(&name).ok_or_else(|| A::Error::custom("a member that is read in two ways"))?;
            let value = map.next_value_seed(AsIn(typed))?;
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        for typed in self.0.as_array().into_iter().flatten() {
            items.extend(list.next_element_seed(AsIn(typed))?);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(items))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        let value = self.0.to_string();
        Ok(if text == value { self.0.clone() } else { Value::String(format!("{MARK}{text}{MARK}{value}")) })
    }
}
