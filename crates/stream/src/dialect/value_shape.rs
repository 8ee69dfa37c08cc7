use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Properties of a value that is read without being kept.
#[derive(Clone, Copy, Default)]
pub(super) struct ValueShape {
    /// The value is not null, false, or an empty text, list or object.
    pub(super) is_filled: bool,
    /// The value is the text `error`.
    pub(super) is_error: bool,
    /// The value, if it is a whole number.
    pub(super) number: Option<u64>,
}

impl ValueShape {
    /// Returns true if the value, as the code of a result, says that something failed.
    pub(super) fn is_fault(self) -> bool {
        self.is_filled && !self.is_success()
    }

    /// Returns true if the value is a code of success: 0, or HTTP's 200.
    pub(super) fn is_success(self) -> bool {
        matches!(self.number, Some(0 | 200))
    }

    fn filled(is_filled: bool) -> ValueShape {
        ValueShape { is_filled, ..ValueShape::default() }
    }
}

impl<'de> Deserialize<'de> for ValueShape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ValueShape, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = ValueShape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<ValueShape, E> {
        Ok(ValueShape::default())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<ValueShape, E> {
        Ok(ValueShape::filled(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<ValueShape, E> {
        Ok(ValueShape { number: Some(value), ..ValueShape::filled(true) })
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<ValueShape, E> {
        Ok(ValueShape::filled(true))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<ValueShape, E> {
        // Some servers write whole numbers as 7.0. Above 2^53, a float is no count.
        let is_count = value.fract() == 0.0 && (0.0..9.0e15).contains(&value);
        Ok(ValueShape { number: is_count.then_some(value as u64), ..ValueShape::filled(true) })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ValueShape, E> {
        Ok(ValueShape { is_error: text == "error", ..ValueShape::filled(!text.is_empty()) })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ValueShape, A::Error> {
        let mut is_filled = false;
        while list.next_element::<IgnoredAny>()?.is_some() {
            is_filled = true;
        }
        Ok(ValueShape::filled(is_filled))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<ValueShape, A::Error> {
        let mut is_filled = false;
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            is_filled = true;
        }
        Ok(ValueShape::filled(is_filled))
    }
}
