//! h2load, of nghttp2: a closed loop, here over HTTP/1.1.

mod parse;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, SAMPLES, TESTED};
use crate::locate::locate_program;
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

pub(crate) use parse::log_row;

/// h2load with `users` clients that each have one request in flight.
pub struct H2load;

const INFO: ToolInfo = ToolInfo {
    name: NAME,
    label_model: LoadModelKind::Closed,
    clock: "from sending the request; leaves out requests without an answer",
    install: InstallHint {
        origin: "apt",
        debian: "apt-get install -y nghttp2-client",
        macos: Some("brew install nghttp2"),
    },
    tested_version: TESTED,
};

impl Tool for H2load {
    fn info(&self) -> &ToolInfo {
        &INFO
    }

    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        locate_program(search_path, NAME, &["--version"])
    }

    /// `-N` is an inactivity timeout. After it, a client sends no more requests in this run.
    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let timed = format!("--h1 -t1 -c{} -D{}ms --log-file=samples.tsv", load.users, load.whole_millis());
        let mut invocation = Invocation::new(found, &timed);
        if let Some(millis) = load.timeout_millis() {
            invocation = invocation.words(&format!("-N {millis}ms"));
        }
        Ok(Invocation { outputs: vec![(SAMPLES, "samples.tsv".to_owned())], ..invocation.arg(&load.url) })
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        parse::parse(output)
    }
}
