//! ab, of the Apache HTTP server: a closed loop over HTTP/1.0.

mod parse;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, PERCENTILES, SAMPLES, TESTED};
use crate::locate::locate_program;
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

pub(crate) use parse::{parse as parse_output, percentiles};

/// ab with `users` kept-alive connections for the duration.
pub struct Ab;

/// ab stops at a number of requests even with a time limit. This is more than it can make in the longest run.
const MAX_REQUESTS: u64 = 10_000_000;

const INFO: ToolInfo = ToolInfo {
    name: NAME,
    label_model: LoadModelKind::Closed,
    clock: "from sending the request; on a new connection, from opening it; refused and reset requests count with \
            the time until they failed",
    install: InstallHint {
        origin: "apt",
        debian: "apt-get install -y apache2-utils",
        macos: Some("brew install httpd"),
    },
    tested_version: TESTED,
};

impl Tool for Ab {
    fn info(&self) -> &ToolInfo {
        &INFO
    }

    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        locate_program(search_path, NAME, &["-V"])
    }

    /// `-n` comes after `-t`, which would set it to 50,000. Without `-r`, a reset would end the run without a report.
    /// `-s` is not a timeout per request: it ends the run if no connection makes progress for that time.
    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let timed = format!("-q -k -r -t {} -n {MAX_REQUESTS} -c {}", load.whole_seconds(), load.users);
        let mut invocation = Invocation::new(found, &timed).words("-g samples.tsv -e percentiles.csv");
        if let Some(seconds) = load.timeout_seconds() {
            invocation = invocation.words(&format!("-s {seconds}"));
        }
        let outputs = vec![(SAMPLES, "samples.tsv".to_owned()), (PERCENTILES, "percentiles.csv".to_owned())];
        Ok(Invocation { outputs, ..invocation.arg(&load.url) })
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        parse::parse(output)
    }
}
