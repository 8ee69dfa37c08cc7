//! Errors of command lines and of parsers.

/// A load that a tool cannot offer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{tool} cannot offer this: {why}")]
pub struct CommandError {
    /// The tool.
    pub tool: &'static str,
    /// What it lacks, and what to do instead.
    pub why: String,
}

/// Output that a parser does not understand, or that was cut off.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{tool}: {}: {what} (this parser was tested with {tool} {tested})", place(file, *line))]
pub struct ParseError {
    /// The tool.
    pub tool: &'static str,
    /// The version the parser was tested with.
    pub tested: &'static str,
    /// Which of its files: `stdout`, or a key of [`crate::ToolOutput::files`].
    pub file: &'static str,
    /// The line, from 1, if there is one.
    pub line: Option<u64>,
    /// What is wrong there.
    pub what: String,
}

fn place(file: &str, line: Option<u64>) -> String {
    line.map_or_else(|| file.to_owned(), |line| format!("{file}, line {line}"))
}
