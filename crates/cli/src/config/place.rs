//! Errors with their place in a file.

use std::fmt;

/// Text of a file, and its name in errors.
#[derive(Clone, Copy)]
pub(super) struct Source<'t> {
    pub(super) file: &'t str,
    pub(super) text: &'t str,
}

impl Source<'_> {
    /// Returns `FILE:LINE:COLUMN: message`, for the byte `offset`.
    pub(super) fn error(self, offset: usize, message: impl fmt::Display) -> String {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let message = message.to_string().lines().collect::<Vec<_>>().join("; ");
        format!("{}:{line}:{column}: {message}", self.file)
    }
}

/// Returns `did you mean 'rate'?`, or the list of known words.
pub(super) fn suggestion(given: &str, known: &[String]) -> String {
    let near = known.iter().map(|word| (strsim::damerau_levenshtein(given, word), word)).min();
    match near.filter(|(distance, _)| *distance <= if given.len() < 4 { 1 } else { 2 }) {
        Some((_, word)) => format!("did you mean '{word}'?"),
        None => format!("use one of {}", known.join(", ")),
    }
}
