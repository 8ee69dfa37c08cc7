//! hey, by Jaana Dogan: a closed loop with an optional cap on the rate of each worker.

mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, TESTED};
use crate::known_tool::KnownTool;
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

pub(crate) use parse::parse as parse_output;

/// hey with `users` workers and no cap: a closed loop.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Closed,
        clock: "from sending the request; leaves out requests without an answer",
        install: InstallHint { origin: "apt", debian: "apt-get install -y hey", macos: Some("brew install hey") },
        tested_version: TESTED,
    },
    // Reports no version, because hey has no option to print it.
    |search_path| Ok(InstalledTool { path: search_path.program(NAME)?, version: "unknown".to_owned() }),
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output),
);

fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let timed = format!("-z {}ms -c {} -o csv", load.whole_millis(), load.users);
    let invocation = Invocation::new(found, &timed);
    invocation.words_if(load.timeout_seconds().map(|seconds| format!("-t {seconds}"))).arg(&load.url)
}
