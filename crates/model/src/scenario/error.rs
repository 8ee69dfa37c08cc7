//! Errors in a scenario file, with their position.

use std::fmt;

/// Error in a scenario file, in one line: `FILE:LINE:COLUMN: problem; help`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// File as the caller named it.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column, counted from 1, in characters.
    pub column: usize,
    /// Key, problem and help, without a line break.
    pub message: String,
}

impl ScenarioError {
    /// Creates the error `message` about the byte `offset` of `text`.
    pub(super) fn at(file: &str, text: &str, offset: usize, message: impl fmt::Display) -> ScenarioError {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        ScenarioError {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.to_string().lines().collect::<Vec<_>>().join("; "),
        }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for ScenarioError {}

/// Returns the word of `known` that `given` probably means: at most one letter apart, or two from four letters on.
pub(super) fn closest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let (distance, word) = known.iter().map(|word| (strsim::damerau_levenshtein(given, word), *word)).min()?;
    (distance <= if given.len() < 4 { 1 } else { 2 }).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_counted_in_lines_and_characters() {
        let text = "a = 1\nµ = 2\n";
        let place = |offset| {
            let error = ScenarioError::at("f", text, offset, "m");
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
    }
}
