//! Errors of reading a rate profile.

/// Error of a text that is not a profile.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ProfileError {
    /// No kind of profile has this name.
    #[error(
        "unknown profile '{0}'; there are 5..30/5s,30/15s · steps:100/10s,500/10s · ramp:100..2000/60s · sine:500..1500/60s · trace:FILE"
    )]
    Unknown(String),
    /// The kind is known, and its parameters are malformed.
    #[error("profile '{text}': {problem}; write {form}")]
    Malformed {
        /// The given text.
        text: String,
        /// Problem with the text.
        problem: String,
        /// The expected form.
        form: &'static str,
    },
    /// A recording is malformed.
    #[error("trace, line {line}: {problem}")]
    Trace {
        /// Line, counted from 1; 0 for the file as a whole.
        line: usize,
        /// Problem in that line.
        problem: String,
    },
}
