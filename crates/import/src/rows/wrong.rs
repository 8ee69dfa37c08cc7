use std::fmt;

use super::number::NotUsable;

/// Reason why a row is left out. Only the first one of a file is turned into text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    /// The number of fields differs from the header.
    Fields { found: usize, expected: usize },
    /// A field has no usable number.
    Number(&'static str, NotUsable),
    /// A required field is missing.
    Missing(&'static str),
    /// The row is not a JSON object.
    Json,
    /// The row does not have the form of such rows.
    Shape(&'static str),
    /// The request ends before it starts.
    EndsBeforeStart,
    /// A field begins with a quote and does not end.
    OpenQuote,
    /// The row exceeds the limit on length.
    TooLong,
    /// The file ends within the row.
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
