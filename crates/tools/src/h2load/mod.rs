//! h2load, of nghttp2: a closed loop, here over HTTP/1.1.

mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, SAMPLES, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

pub(crate) use parse::log_row;

/// h2load with `users` clients that each have one request in flight.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Closed,
        clock: "from sending the request; leaves out requests without an answer",
        install: InstallHint {
            origin: "apt",
            debian: "apt-get install -y nghttp2-client",
            macos: Some("brew install nghttp2"),
        },
        tested_version: TESTED,
    },
    |search_path| locate_program(search_path, NAME, &["--version"]),
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output),
);

/// `-N` is an inactivity timeout. After it, a client sends no more requests in this run.
fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let timed = format!("--h1 -t1 -c{} -D{}ms --log-file=samples.tsv", load.users, load.whole_millis());
    let mut invocation = Invocation::new(found, &timed);
    if let Some(millis) = load.timeout_millis() {
        invocation = invocation.words(&format!("-N {millis}ms"));
    }
    Invocation { outputs: vec![(SAMPLES, "samples.tsv".to_owned())], ..invocation.arg(&load.url) }
}
