//! Why a profile cannot be read.

/// Why a text is not a profile.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ProfileError {
    /// There is no kind of profile of that name.
    #[error(
        "unknown profile '{0}'; there are steps:100/10s,500/10s · ramp:100..2000/60s · sine:500..1500/60s · trace:FILE"
    )]
    Unknown(String),
    /// The kind is known, and its parameters are malformed.
    #[error("profile '{text}': {problem}; write {form}")]
    Malformed {
        /// What was given.
        text: String,
        /// What is wrong with it.
        problem: String,
        /// How it is written.
        form: &'static str,
    },
    /// A recording is malformed.
    #[error("trace, line {line}: {problem}")]
    Trace {
        /// Counted from 1; 0 for the file as a whole.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
}
