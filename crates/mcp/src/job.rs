//! A command of this program, and its output.

use serde_json::Value;
use truetail_model::time::Nanos;

/// A command of this program to run, without the program's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Arguments.
    pub words: Vec<String>,
    /// Duration of its load; zero if it offers no load.
    pub load: Nanos,
}

/// Result of a command.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct JobOutput {
    /// Exit code; `None` if a signal ended it, or if it could not be started.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error: notes, or the reason of a failure.
    pub stderr: String,
}

impl JobOutput {
    /// Returns the JSON object on standard output.
    ///
    /// # Errors
    /// With the last line of standard error if the command failed.
    pub fn json(&self) -> Result<Value, String> {
        let done = matches!(self.code, Some(0 | 3 | 4 | 129 | 130 | 143));
        match serde_json::from_slice::<Value>(&self.stdout) {
            Ok(value) if done && value.is_object() => Ok(value),
            _ => Err(self.failure()),
        }
    }

    /// Returns the notes of the command, without the program's name.
    pub fn notes(&self) -> Vec<String> {
        let lines = self.stderr.lines().map(|line| line.strip_prefix("truetail: ").unwrap_or(line));
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    fn failure(&self) -> String {
        self.notes().pop().unwrap_or_else(|| match self.code {
            Some(code) => format!("the command ended with exit code {code} and said nothing"),
            None => "the command was ended by a signal".to_owned(),
        })
    }
}
