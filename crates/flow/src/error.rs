//! Why a flow cannot be run.

/// Why a flow cannot be run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct FlowError {
    /// From 1.
    pub line: usize,
    /// What is wrong there, and what helps where something does.
    pub problem: String,
}

impl FlowError {
    /// What a flow holds may be named in `problem`, and may hold anything: it stays one line, without control characters.
    pub(crate) fn new(line: usize, problem: impl Into<String>) -> FlowError {
        let mut problem = problem.into();
        if problem.contains(char::is_control) {
            let escaped = |c: char| if c.is_control() { c.escape_default().collect() } else { c.to_string() };
            problem = problem.chars().map(escaped).collect();
        }
        FlowError { line, problem }
    }
}
