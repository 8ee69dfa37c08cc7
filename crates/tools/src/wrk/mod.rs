//! wrk, by Will Glozer: a closed loop with a histogram that is back-filled afterwards.

mod parse;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, TESTED};
use crate::locate::locate_program;
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

pub(crate) use parse::{WrkReport, parse as parse_output, quantiles};

/// wrk with `users` connections.
pub struct Wrk;

const INFO: ToolInfo = ToolInfo {
    name: NAME,
    label_model: LoadModelKind::Closed,
    clock: "from sending the request; after the run, fills its histogram with requests it never sent (HdrHistogram's \
            correction); leaves out answers after the timeout and requests in flight at the end",
    install: InstallHint { origin: "apt", debian: "apt-get install -y wrk", macos: Some("brew install wrk") },
    tested_version: TESTED,
};

impl Tool for Wrk {
    fn info(&self) -> &ToolInfo {
        &INFO
    }

    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        locate_program(search_path, NAME, &["-v"])
    }

    /// The default timeout is 2 s, and the option takes whole seconds.
    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let threads = threads(load.users);
        let users = load.users;
        let timed = format!("-t{threads} -c{users} -d{}s --latency", load.whole_seconds());
        let mut invocation = Invocation::new(found, &timed);
        if let Some(seconds) = load.timeout_seconds() {
            invocation = invocation.words(&format!("--timeout {seconds}s"));
        }
        Ok(invocation.arg(&load.url))
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        parse::parse(output)
    }
}

/// Returns two threads if they can share the connections evenly. wrk would silently not open a remainder.
pub(crate) const fn threads(connections: u32) -> u32 {
    if connections > 0 && connections.is_multiple_of(2) { 2 } else { 1 }
}
