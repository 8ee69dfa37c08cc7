//! Why a row is left out.

use std::fmt;

use super::number::NotUsable;

/// Why a row is left out. Text is made of it only for the first such row of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    /// It has another number of fields than the header.
    Fields { found: usize, expected: usize },
    /// A field is no number, or none that fits.
    Number(&'static str, NotUsable),
    /// Something that it must have is missing.
    Missing(&'static str),
    /// It is no JSON object.
    Json,
    /// It is not what such a row looks like.
    Shape(&'static str),
    /// It ends before it starts.
    EndsBeforeStart,
    /// A field begins with a quote and does not end.
    OpenQuote,
    /// It is longer than any row may be.
    TooLong,
    /// The file ends within it.
    CutOff,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Fields { found, expected } => write!(f, "it has {found} fields, not {expected}"),
            Wrong::Number(what, NotUsable::Absent) => write!(f, "'{what}' is empty"),
            Wrong::Number(what, NotUsable::NoNumber) => write!(f, "'{what}' is not a number"),
            Wrong::Number(what, NotUsable::NoTime) => write!(f, "'{what}' is not a time"),
            Wrong::Number(what, NotUsable::Negative) => write!(f, "'{what}' is negative"),
            Wrong::Number(what, NotUsable::NoUnit) => write!(f, "the unit of '{what}' is not known"),
            Wrong::Number(what, NotUsable::TooLarge) => write!(f, "'{what}' is too large"),
            Wrong::Missing(what) => write!(f, "'{what}' is missing"),
            Wrong::Json => f.write_str("it is not a JSON object"),
            Wrong::Shape(expected) => write!(f, "it is not {expected}"),
            Wrong::EndsBeforeStart => f.write_str("it ends before it starts"),
            Wrong::OpenQuote => f.write_str("a quote in it is not closed"),
            Wrong::TooLong => f.write_str("it is longer than 1 MiB"),
            Wrong::CutOff => f.write_str("the file ends within it"),
        }
    }
}
