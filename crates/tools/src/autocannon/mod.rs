//! autocannon, by Matteo Collina: a closed loop in Node.js.

mod parse;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, TESTED};
use crate::locate::locate_program;
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

pub(crate) use parse::result_file;

/// autocannon with `users` connections and no rate: a closed loop. A rate (`-R`) would not make it open. It would send
/// the requests of each second in one burst, over connections that still wait for their answers, and back-fill the
/// histogram with a wrong interval.
pub struct Autocannon;

const INFO: ToolInfo = ToolInfo {
    name: NAME,
    label_model: LoadModelKind::Closed,
    clock: "from sending the request, in whole milliseconds; leaves out requests without an answer",
    install: InstallHint::anywhere("npm", "tools/install.sh autocannon"),
    tested_version: TESTED,
};

impl Tool for Autocannon {
    fn info(&self) -> &ToolInfo {
        &INFO
    }

    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        locate_program(search_path, NAME, &["--version"])
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let timed = format!("-j -c {} -d {}", load.users, load.whole_seconds());
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
