//! Steps after a load. Each is tried, even if an earlier one failed, so that no measurement is lost.

use crate::error::{CliError, ExitCode, Result};
use crate::output;

/// Errors of the steps.
#[derive(Default, Debug)]
pub(crate) struct AfterLoad(Vec<CliError>);

impl AfterLoad {
    /// Returns the result of a step. If it failed, returns `None` and keeps the error for [`AfterLoad::end`].
    pub(crate) fn tried<T>(&mut self, step: Result<T>) -> Option<T> {
        step.map_err(|error| self.0.push(error)).ok()
    }

    /// Ends with a last step that gives the exit code.
    pub(crate) fn end_with(mut self, code: Result<ExitCode>) -> Result<ExitCode> {
        let code = self.tried(code);
        self.end(code.unwrap_or(ExitCode::Error))
    }

    /// Returns `code` if every step succeeded. Otherwise prints all errors but the last, and returns the last.
    pub(crate) fn end(mut self, code: ExitCode) -> Result<ExitCode> {
        let Some(last) = self.0.pop() else { return Ok(code) };
        self.0.iter().for_each(|error| output::note(&error.message));
        Err(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::runtime_error;

    #[test]
    fn every_step_is_tried_and_the_last_error_is_returned() {
        let mut steps = AfterLoad::default();
        assert_eq!(steps.tried(Err::<u8, _>(runtime_error("first"))), None);
        assert_eq!(steps.tried(Ok(7)), Some(7));
        assert_eq!(steps.tried(Err::<u8, _>(runtime_error("second"))), None);
        assert_eq!(steps.end(ExitCode::GateFailed), Err(runtime_error("second")));
        assert_eq!(AfterLoad::default().end_with(Err(runtime_error("last"))), Err(runtime_error("last")));
        assert_eq!(AfterLoad::default().end_with(Ok(ExitCode::GateFailed)), Ok(ExitCode::GateFailed));
        assert_eq!(AfterLoad::default().end(ExitCode::GateFailed), Ok(ExitCode::GateFailed));
    }
}
