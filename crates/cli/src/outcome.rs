//! Exit codes, and the one line on standard error that says why.

use std::fmt::Display;

use truetail_run::{Verdict, VerdictState};

use crate::output;

/// How a command ended, as scripts see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// It did what it was asked.
    Done = 0,
    /// It could not be done.
    CouldNot = 1,
    /// What was asked makes no sense.
    Usage = 2,
    /// A threshold of `--fail-if` failed.
    ThresholdFailed = 3,
    /// The measurement is INVALID, or the load tool that was to be certified did not keep its schedule, so that its own
    /// measurements are. It outweighs a failed threshold, which an invalid number cannot decide.
    Invalid = 4,
}

impl Exit {
    /// What measurements with these verdicts come to, where no threshold was asked for.
    pub fn of<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> Exit {
        let invalid = verdicts.into_iter().any(|verdict| verdict.state == VerdictState::Invalid);
        if invalid { Exit::Invalid } else { Exit::Done }
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> u8 {
        exit as u8
    }
}

/// Why a command did nothing, or not all of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    exit: Exit,
    message: String,
}

/// What a command comes to.
pub type Result<T> = std::result::Result<T, Failure>;

/// What was asked makes no sense; `message` says what, where, and what would help.
pub fn usage(message: impl Display) -> Failure {
    Failure { exit: Exit::Usage, message: message.to_string() }
}

/// It could not be done; `message` says what was tried, with what, and what would help.
pub fn could_not(message: impl Display) -> Failure {
    Failure { exit: Exit::CouldNot, message: message.to_string() }
}

impl Failure {
    /// Tells the user in one line, and gives the exit code.
    pub fn tell(self) -> Exit {
        output::note(&self.message);
        self.exit
    }

    /// The line.
    pub fn message(&self) -> &str {
        &self.message
    }
}
