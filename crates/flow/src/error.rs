/// Reason why a flow cannot be run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct FlowError {
    /// Line number, from 1.
    pub line: usize,
    /// The problem, and advice if any helps.
    pub problem: String,
}

impl FlowError {
    /// Creates an error and escapes control characters in `problem`, which may quote any text of a flow.
    pub(crate) fn new(line: usize, problem: impl Into<String>) -> FlowError {
        let mut problem = problem.into();
        if problem.contains(char::is_control) {
            let escaped = |c: char| if c.is_control() { c.escape_default().collect() } else { c.to_string() };
            problem = problem.chars().map(escaped).collect();
        }
        FlowError { line, problem }
    }
}
