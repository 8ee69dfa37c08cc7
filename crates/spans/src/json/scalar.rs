//! Numbers, which some write as texts.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A number or a text; other values are [`Scalar::Other`].
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) enum Scalar {
    Whole(u64),
    Text(String),
    #[default]
    Other,
}

impl Scalar {
    /// Returns the whole number. It may be written as a number or as a text.
    pub(super) fn whole(&self) -> Option<u64> {
        match self {
            Scalar::Whole(number) => Some(*number),
            Scalar::Text(text) => text.parse().ok(),
            Scalar::Other => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Scalar::Text(text) = self { Some(text) } else { None }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Scalar, D::Error> {
        input.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a text")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar::Whole(number))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Scalar, E> {
        let is_whole = (0.0..u64::MAX as f64).contains(&number) && number.fract() == 0.0;
        Ok(if is_whole { Scalar::Whole(number as u64) } else { Scalar::Other })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(text.to_owned()))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_unit<E: Error>(self) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }
}
