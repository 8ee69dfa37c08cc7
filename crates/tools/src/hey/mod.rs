//! hey, by Jaana Dogan: a closed loop with an optional cap on the rate of each worker.

mod parse;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, TESTED};
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

pub(crate) use parse::parse as parse_output;

/// hey with `users` workers and no cap: a closed loop.
pub struct Hey;

const INFO: ToolInfo = ToolInfo {
    name: NAME,
    label_model: LoadModelKind::Closed,
    clock: "from sending the request; leaves out requests without an answer",
    install: InstallHint { origin: "apt", debian: "apt-get install -y hey", macos: Some("brew install hey") },
    tested_version: TESTED,
};

impl Tool for Hey {
    fn info(&self) -> &ToolInfo {
        &INFO
    }

    /// Reports no version, because hey has no option to print it.
    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        Ok(InstalledTool { path: search_path.program(NAME)?, version: "unknown".to_owned() })
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let timed = format!("-z {}ms -c {} -o csv", load.whole_millis(), load.users);
        let mut invocation = Invocation::new(found, &timed);
        if let Some(seconds) = load.timeout_seconds() {
            invocation = invocation.words(&format!("-t {seconds}"));
        }
        Ok(invocation.arg(&load.url))
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        parse::parse(output)
    }
}
