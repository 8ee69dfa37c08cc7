//! Marks of a run: commands that it started (`--event`).

use serde::{Deserialize, Serialize};

/// A command that was started during the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mark {
    /// The command.
    pub name: String,
    /// Its start, since the origin of the run.
    pub at_ns: u64,
    /// Time until it ended; null if it had not ended with the run, or could not be started.
    pub took_ns: Option<u64>,
    /// Reason why it failed; omitted if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
