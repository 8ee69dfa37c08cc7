//! Errors of command lines and of parsers.

/// A load that a tool cannot offer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{tool} cannot offer this: {why}")]
pub struct CommandError {
    /// Name of the tool.
    pub tool: &'static str,
    /// The missing feature, and a remedy.
    pub why: String,
}

/// Output that a parser does not understand, or that was cut off.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{tool}: {}: {what} (this parser was tested with {tool} {tested})", place(file, *line))]
pub struct ParseError {
    /// Name of the tool.
    pub tool: &'static str,
    /// Version that the parser was tested with.
    pub tested: &'static str,
    /// Name of the file: `stdout`, or a key of [`crate::ToolOutput::files`].
    pub file: &'static str,
    /// Line number, from 1, if known.
    pub line: Option<u64>,
    /// Description of the problem.
    pub what: String,
}

fn place(file: &str, line: Option<u64>) -> String {
    line.map_or_else(|| file.to_owned(), |line| format!("{file}, line {line}"))
}
