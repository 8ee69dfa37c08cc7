//! Exit codes, and errors as the one line that the user reads.

use std::fmt::Display;

use truetail_run::{Verdict, VerdictState};

/// How a command ended, as scripts see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitCode {
    /// The command did what it was asked.
    Success = 0,
    /// The command could not be carried out.
    Error = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// A threshold of `--fail-if` failed.
    ThresholdFailed = 3,
    /// The measurement is INVALID, or the load tool under certification did not keep its schedule, so that its own
    /// measurements are. It outweighs a failed threshold, which an invalid number cannot decide.
    InvalidRun = 4,
}

impl ExitCode {
    /// [`ExitCode::InvalidRun`] if one of the verdicts is INVALID, else [`ExitCode::Success`].
    pub fn from_verdicts<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> ExitCode {
        let invalid = verdicts.into_iter().any(|verdict| verdict.state == VerdictState::Invalid);
        if invalid { ExitCode::InvalidRun } else { ExitCode::Success }
    }
}

impl From<ExitCode> for u8 {
    fn from(code: ExitCode) -> u8 {
        code as u8
    }
}

/// Why a command did nothing, or not all of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CliError {
    /// The exit code of the process.
    pub exit_code: ExitCode,
    /// The line for the user.
    pub message: String,
}

/// The result of a step of a command.
pub type Result<T> = std::result::Result<T, CliError>;

/// The command line makes no sense; `message` says what, where, and what would help.
pub fn usage_error(message: impl Display) -> CliError {
    CliError { exit_code: ExitCode::Usage, message: message.to_string() }
}

/// The command could not be carried out; `message` says what was tried, with what, and what would help.
pub fn runtime_error(message: impl Display) -> CliError {
    CliError { exit_code: ExitCode::Error, message: message.to_string() }
}
