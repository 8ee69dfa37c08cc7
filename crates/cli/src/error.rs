//! Exit codes, and errors as one line for the user.

use std::fmt::Display;

use truetail_run::{Verdict, VerdictState};

/// Outcome of a command, as scripts see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitCode {
    /// The command did what it was asked.
    Success,
    /// The command could not be carried out.
    Error,
    /// The command line is not valid.
    Usage,
    /// A gate failed: an objective of `--slo` was missed, a condition of `--fail-if` was met, or a check failed.
    GateFailed,
    /// The question stays open: a gate that the run neither passes nor fails, an INVALID run without gates, or a load
    /// tool under certification that did not keep its schedule, so that its own measurements are INVALID.
    Open,
    /// Ended by this signal, reported and saved, with no gate failed.
    Signal(i32),
}

impl ExitCode {
    /// Returns [`ExitCode::Open`] if one of the verdicts is INVALID, else [`ExitCode::Success`].
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
            // As in shells: 130 for SIGINT, 143 for SIGTERM.
            ExitCode::Signal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
        }
    }
}

/// Reason why a command did not do all of its work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CliError {
    pub exit_code: ExitCode,
    /// Line for the user.
    pub message: String,
}

/// Result of a step of a command.
pub(crate) type Result<T> = std::result::Result<T, CliError>;

/// Returns an error in the command line. `message` says what is wrong, where, and what would help.
pub(crate) fn usage_error(message: impl Display) -> CliError {
    CliError { exit_code: ExitCode::Usage, message: message.to_string() }
}

/// Refuses options beside `option`. Each of `others` has its name, whether it is given, and why the two do not go
/// together or what helps.
///
/// # Errors
/// If one of them is given.
pub(crate) fn refuse_beside(option: &str, others: &[(&str, bool, &str)]) -> Result<()> {
    match others.iter().find(|(_, given, _)| *given) {
        Some((other, _, why)) => Err(usage_error(format!("{option} and {other} contradict each other: {why}"))),
        None => Ok(()),
    }
}

/// Returns an error in carrying out a command. `message` says what failed, why, and what would help.
pub(crate) fn runtime_error(message: impl Display) -> CliError {
    CliError { exit_code: ExitCode::Error, message: message.to_string() }
}
