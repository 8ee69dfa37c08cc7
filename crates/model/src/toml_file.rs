//! TOML files that users write: errors with their place, and what an unknown word was meant to be.

use std::fmt;

use toml::Spanned;
use toml::de::DeTable;

/// Error in a TOML file, in one line: `FILE:LINE:COLUMN: problem; help`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TomlError {
    /// File as the caller named it.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column, counted from 1, in characters.
    pub column: usize,
    /// Key, problem and help, without a line break.
    pub message: String,
}

/// Text of a file, and its name in errors.
#[derive(Clone, Copy, Debug)]
pub struct TomlFile<'t> {
    /// Name of the file.
    pub name: &'t str,
    /// Text of the file.
    pub text: &'t str,
}

impl<'t> TomlFile<'t> {
    /// Parses the text. Keys and values keep their places.
    ///
    /// # Errors
    /// The first problem, if the text is not TOML.
    pub fn parse(self) -> Result<Spanned<DeTable<'t>>, TomlError> {
        DeTable::parse(self.text)
            .map_err(|error| self.error(error.span().map_or(0, |span| span.start), error.message()))
    }

    /// Creates an error about the byte `offset` of the text.
    pub fn error(self, offset: usize, message: impl fmt::Display) -> TomlError {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        TomlError {
            file: self.name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.to_string().lines().collect::<Vec<_>>().join("; "),
        }
    }
}

impl fmt::Display for TomlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for TomlError {}

/// Returns `did you mean 'rate'?`, or the list of known words.
pub fn suggestion(given: &str, known: &[impl AsRef<str>]) -> String {
    match closest(given, known) {
        Some(meant) => format!("did you mean '{meant}'?"),
        None => format!("use one of {}", known.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")),
    }
}

/// Returns the word of `known` that `given` probably means: at most one letter apart, or two from four letters on.
pub fn closest<'a>(given: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let words = known.iter().map(AsRef::as_ref);
    let (distance, word) = words.map(|word| (strsim::damerau_levenshtein(given, word), word)).min()?;
    (distance <= if given.len() < 4 { 1 } else { 2 }).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_counted_in_lines_and_characters() {
        let text = "a = 1\nµ = 2\n";
        let place = |offset| {
            let error = TomlFile { name: "f", text }.error(offset, "m");
            (error.line, error.column)
        };
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(4), (1, 5));
        assert_eq!(place(text.find('2').unwrap()), (2, 5));
        assert_eq!(place(text.len()), (3, 1));
    }

    #[test]
    fn only_what_is_near_is_suggested() {
        let known = ["body-bytes", "baseline", "at", "for"];
        assert_eq!(closest("bodybytes", &known), Some("body-bytes"));
        assert_eq!(closest("basline", &known), Some("baseline"));
        assert_eq!(closest("zz", &known), None);
        assert_eq!(closest("latency", &known), None);
        assert_eq!(suggestion("fro", &known), "did you mean 'for'?");
        assert_eq!(suggestion("zz", &known), "use one of body-bytes, baseline, at, for");
    }
}
