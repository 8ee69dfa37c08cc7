//! wrk, by Will Glozer: a closed loop with a histogram that is back-filled afterwards.

mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

pub(crate) use parse::{WrkReport, parse as parse_output, quantiles};

/// wrk with `users` connections.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Closed,
        clock: "from sending the request; after the run, fills its histogram with requests it never sent (HdrHistogram's \
                correction); leaves out answers after the timeout and requests in flight at the end",
        install: InstallHint { origin: "apt", debian: "apt-get install -y wrk", macos: Some("brew install wrk") },
        tested_version: TESTED,
    },
    |search_path| locate_program(search_path, NAME, &["-v"]),
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output),
);

/// The default timeout is 2 s, and the option takes whole seconds.
fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let threads = threads(load.users);
    let users = load.users;
    let timed = format!("-t{threads} -c{users} -d{}s --latency", load.whole_seconds());
    let invocation = Invocation::new(found, &timed);
    invocation.words_if(load.timeout_seconds().map(|seconds| format!("--timeout {seconds}s"))).arg(&load.url)
}

/// Returns two threads if they can share the connections evenly. wrk would silently not open a remainder.
pub(crate) const fn threads(connections: u32) -> u32 {
    if connections > 0 && connections.is_multiple_of(2) { 2 } else { 1 }
}
