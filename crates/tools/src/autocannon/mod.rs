//! autocannon, by Matteo Collina: a closed loop in Node.js.

mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

pub(crate) use parse::result_file;

/// autocannon with `users` connections and no rate: a closed loop. A rate (`-R`) would not make it open. It would send
/// the requests of each second in one burst, over connections that still wait for their answers, and back-fill the
/// histogram with a wrong interval.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Closed,
        clock: "from sending the request, in whole milliseconds; leaves out requests without an answer",
        install: InstallHint::anywhere("npm", "tools/install.sh autocannon"),
        tested_version: TESTED,
    },
    |search_path| locate_program(search_path, NAME, &["--version"]),
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output),
);

fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let timed = format!("-j -c {} -d {}", load.users, load.whole_seconds());
    let invocation = Invocation::new(found, &timed);
    invocation.words_if(load.timeout_seconds().map(|seconds| format!("-t {seconds}"))).arg(&load.url)
}
