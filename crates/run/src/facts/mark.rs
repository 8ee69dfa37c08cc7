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

impl Mark {
    /// Limit on the marks of a run.
    pub const MOST: usize = 32;

    /// Returns the reason why these are not the marks of a run; `None` if they can be.
    pub(crate) fn problem(marks: &[Mark]) -> Option<String> {
        if marks.len() > Mark::MOST {
            return Some(format!("marks: {} commands, and a run starts at most {}", marks.len(), Mark::MOST));
        }
        let in_order = marks.is_sorted_by_key(|mark| mark.at_ns);
        (!in_order).then(|| "marks: the commands are not in the order of their times".to_owned())
    }
}
