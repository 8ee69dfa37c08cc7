//! A tool, and a call of it that can be carried out.

use serde_json::{Value, json};

use crate::job::{Job, JobOutput};
use crate::limits::{Files, Limits};

/// A tool.
pub(crate) struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    /// Text for the agent that chooses a tool.
    pub about: &'static str,
    /// Schema of the arguments, within the limits.
    pub arguments: fn(&Limits) -> Value,
    /// Schema of the result.
    pub result: fn() -> Value,
    /// Whether it offers load; other tools only read files.
    pub offers_load: bool,
    /// Whether it needs a folder to save runs in.
    pub saves: bool,
    /// Makes a command of the arguments, or refuses them with one line.
    pub plan: fn(&Value, &Limits, &dyn Files) -> Result<Plan, String>,
}

/// A function that makes a result of the output of a command.
pub(super) type Reader = Box<dyn FnOnce(&JobOutput) -> Result<Value, String> + Send>;

/// A call that can be carried out.
pub(crate) struct Plan {
    pub job: Job,
    /// Makes the result of the output of the command, or returns the reason for its failure.
    pub read: Reader,
}

impl Tool {
    /// Returns the definition for `tools/list`.
    pub(crate) fn definition(&self, limits: &Limits) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": (self.arguments)(limits),
            "outputSchema": (self.result)(),
            "annotations": {
                "readOnlyHint": !self.offers_load,
                "destructiveHint": false,
                "idempotentHint": !self.offers_load,
                "openWorldHint": self.offers_load && !limits.hosts.is_empty(),
            },
        })
    }
}

/// Returns the outcome that an exit code says.
pub(super) fn outcome(output: &JobOutput) -> &'static str {
    match output.code {
        Some(0) => "done",
        Some(3) => "gate_failed",
        Some(4) => "undecided",
        _ => "stopped",
    }
}

/// Every [`outcome`].
pub(super) const OUTCOMES: [&str; 4] = ["done", "gate_failed", "undecided", "stopped"];

/// Returns these members of an object, as far as it has them.
pub(super) fn members(of: &Value, names: &[&str]) -> Value {
    let found = names.iter().filter_map(|name| Some(((*name).to_owned(), of.get(*name)?.clone())));
    Value::Object(found.collect())
}
