//! YAML, with numbers as they are written: a postal code such as 01067 is text where its schema says so.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Stands before a number that its value would write in another way: mark, the number as written, mark, its value.
const MARK: char = '\0';

/// A number of YAML that is not written as JSON would write it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AsWritten<'a> {
    /// As the file has it: `01067`, `1.10`, `0x1F`.
    pub(super) text: &'a str,
    value: &'a str,
}

/// The number that a text of the document is.
pub(super) fn number_as_written(text: &str) -> Option<AsWritten<'_>> {
    let (text, value) = text.strip_prefix(MARK)?.split_once(MARK)?;
    Some(AsWritten { text, value })
}

impl<'a> AsWritten<'a> {
    /// As JSON has it: as it is written if JSON could write it so, else its value.
    pub(super) fn json(self) -> &'a str {
        if serde_json::from_str::<IgnoredAny>(self.text).is_ok() { self.text } else { self.value }
    }
}

/// Reads a document.
///
/// # Errors
/// Why it is no YAML.
pub(super) fn read(text: &str) -> Result<Value, String> {
    // In YAML 1.2, which OpenAPI is written in, n and yes are no booleans: a field may be called so.
    let options = || serde_saphyr::options! { strict_booleans: true };
    let typed: Value = serde_saphyr::from_str_with_options(text, options()).map_err(|error| error.to_string())?;
    serde_saphyr::with_deserializer_from_str_with_options(text, options(), |reader| AsIn(&typed).deserialize(reader))
        .map_err(|error| error.to_string())
}

/// Reads a value again of which the type is known.
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
