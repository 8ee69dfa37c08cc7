//! Exit codes, and errors as the one line that the user reads.

use std::fmt::Display;

use truetail_run::{Verdict, VerdictState};

/// How a command ended, as scripts see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitCode {
    /// The command did what it was asked.
    Success,
    /// The command could not be carried out.
    Error,
    /// The command line makes no sense.
    Usage,
    /// A gate failed: an objective of `--slo` is not met, a condition of `--fail-if` is, or an answer failed a check.
    GateFailed,
    /// The question stays open: a gate that the run can neither pass nor fail; without gates, an INVALID measurement; or a
    /// load tool under certification that did not keep its schedule, so that its own measurements are INVALID.
    Open,
    /// Ended by this signal, reported and saved, with no gate failed.
    Signal(i32),
}

impl ExitCode {
    /// [`ExitCode::Open`] if one of the verdicts is INVALID, else [`ExitCode::Success`].
    pub fn from_verdicts<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> ExitCode {
        let invalid = verdicts.into_iter().any(|verdict| verdict.state == VerdictState::Invalid);
        if invalid { ExitCode::Open } else { ExitCode::Success }
    }
}

impl From<ExitCode> for u8 {
    fn from(code: ExitCode) -> u8 {
        match code {
            ExitCode::Success => 0,
            ExitCode::Error => 1,
            ExitCode::Usage => 2,
            ExitCode::GateFailed => 3,
            ExitCode::Open => 4,
            // As shells have it: 130 for SIGINT, 143 for SIGTERM.
            ExitCode::Signal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
        }
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
