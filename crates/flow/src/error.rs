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
    pub(crate) fn new(line: usize, problem: impl Into<String>) -> FlowError {
        FlowError { line, problem: problem.into() }
    }
}
