//! oha, by hatoo: a rate over a number of connections.

mod parse;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, TESTED};
use crate::locate::locate_program;
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

pub(crate) use parse::{Correction, parse as parse_output};

/// oha with `rate`, at most `connections` connections, and its latency correction, which its documentation recommends
/// for a rate. It writes one format per run; only CSV has single requests.
pub struct Oha;

const INFO: ToolInfo = ToolInfo {
    name: NAME,
    label_model: LoadModelKind::Open,
    clock: "from the moment its pacer woke up to send the request (--latency-correction); leaves out failed, \
            timed-out and aborted requests and the backlog at the end",
    install: InstallHint { origin: "crates.io", debian: "tools/install.sh oha", macos: Some("brew install oha") },
    tested_version: TESTED,
};

impl Tool for Oha {
    fn info(&self) -> &ToolInfo {
        &INFO
    }

    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        locate_program(search_path, NAME, &["--version"])
    }

    /// `-w` waits for requests in flight at the end. They would be aborted otherwise. The backlog is lost in both
    /// cases.
    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let rate = load.rate.as_per_second();
        let connections = load.connections;
        let timed = format!("--no-tui -w -z {}ms -q {rate} -c {connections}", load.whole_millis());
        let mut invocation = Invocation::new(found, &timed).words("--latency-correction --output-format csv");
        if let Some(millis) = load.timeout_millis() {
            invocation = invocation.words(&format!("-t {millis}ms"));
        }
        Ok(invocation.arg(&load.url))
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        parse::parse(output, parse::Correction::Unknown)
    }

    /// Without a rate, oha ignores the correction.
    fn parse_with_args(
        &self,
        argv: &[String],
        output: &ToolOutput,
        _load: &LoadSpec,
    ) -> Result<ToolReport, ParseError> {
        let corrected = has_rate(argv) && argv.iter().any(|word| word == "--latency-correction");
        parse::parse(output, if corrected { parse::Correction::On } else { parse::Correction::Off })
    }
}

/// Returns true if the command sets a rate. Bursts count as a rate; `-q 0` does not.
fn has_rate(argv: &[String]) -> bool {
    let is_none = |rate: &str| rate.parse() == Ok(0.0);
    let next = argv.iter().skip(1).map(String::as_str).chain([""]);
    argv.iter().zip(next).any(|(word, next)| match word.strip_prefix("-q") {
        Some("") => !is_none(next),
        Some(rate) => !is_none(rate.trim_start_matches('=')),
        None => word.starts_with("--burst-"),
    })
}
