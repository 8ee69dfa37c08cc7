//! wrk2, by Gil Tene: a constant rate, with latency counted from the intended start.

mod parse;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, TESTED};
use crate::locate::locate_program;
use crate::wrk::threads;
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

pub(crate) use parse::parse as parse_output;

/// wrk2 with `rate` over at most `connections` connections.
pub struct Wrk2;

/// Maximum number of connections, as in wrk2's own example. Each connection has its own schedule, at its share of the
/// rate, and all are in phase: 1,500 connections at 1,000/s would send in bursts 1.5 s apart. Requests that are due
/// while all connections are busy count from their intended start.
const MAX_CONNECTIONS: u32 = 100;

const INFO: ToolInfo = ToolInfo {
    name: NAME,
    label_model: LoadModelKind::Open,
    clock: "from the time its schedule had planned for the request; drops the first 10 s of longer runs; leaves out \
            requests that are still due, in flight or unanswered at the end",
    install: InstallHint {
        origin: "source",
        debian: "apt-get install -y git gcc make libssl-dev zlib1g-dev && \
                 git clone https://github.com/giltene/wrk2 && make -C wrk2 && \
                 install -D wrk2/wrk ~/.cache/truetail/tools/bin/wrk2",
        macos: None,
    },
    tested_version: TESTED,
};

impl Tool for Wrk2 {
    fn info(&self) -> &ToolInfo {
        &INFO
    }

    /// Searches for the name `wrk2`, although wrk2's own build names the program `wrk`.
    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        locate_program(search_path, NAME, &["-v"])
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let connections = load.connections.min(MAX_CONNECTIONS);
        let threads = threads(connections);
        let timed =
            format!("-t{threads} -c{connections} -d{}s -R{} --latency", load.whole_seconds(), whole_rate(load)?);
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

/// Returns the rate, which must be a whole number.
fn whole_rate(load: &LoadSpec) -> Result<u64, CommandError> {
    let rate = load.rate.as_per_second();
    let fits = rate.fract() == 0.0 && rate < u64::MAX as f64;
    let why = || format!("its -R takes a whole number of requests per second, not {rate}");
    fits.then_some(rate as u64).ok_or_else(|| CommandError { tool: NAME, why: why() })
}
