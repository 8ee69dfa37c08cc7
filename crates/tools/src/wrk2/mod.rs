//! wrk2, by Gil Tene: a constant rate, with latency counted from the intended start.

mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::wrk::threads;
use crate::{CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

pub(crate) use parse::parse as parse_output;

/// Maximum number of connections, as in wrk2's own example. Each connection has its own schedule, at its share of the
/// rate, and all are in phase: 1,500 connections at 1,000/s would send in bursts 1.5 s apart. Requests that are due
/// while all connections are busy count from their intended start.
const MAX_CONNECTIONS: u32 = 100;

/// wrk2 with `rate` over at most `connections` connections.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
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
    },
    // Searches for the name `wrk2`, although wrk2's own build names the program `wrk`.
    |search_path| locate_program(search_path, NAME, &["-v"]),
    |found, load, _| command(found, load),
    |output, _| parse::parse(output),
);

fn command(found: &InstalledTool, load: &LoadSpec) -> Result<Invocation, CommandError> {
    let connections = load.connections.min(MAX_CONNECTIONS);
    let threads = threads(connections);
    let timed = format!("-t{threads} -c{connections} -d{}s -R{} --latency", load.whole_seconds(), whole_rate(load)?);
    let mut invocation = Invocation::new(found, &timed);
    if let Some(seconds) = load.timeout_seconds() {
        invocation = invocation.words(&format!("--timeout {seconds}s"));
    }
    Ok(invocation.arg(&load.url))
}

/// Returns the rate, which must be a whole number.
fn whole_rate(load: &LoadSpec) -> Result<u64, CommandError> {
    let rate = load.rate.as_per_second();
    let fits = rate.fract() == 0.0 && rate < u64::MAX as f64;
    let why = || format!("its -R takes a whole number of requests per second, not {rate}");
    fits.then_some(rate as u64).ok_or_else(|| CommandError { tool: NAME, why: why() })
}
