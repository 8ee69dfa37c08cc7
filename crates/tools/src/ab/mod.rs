//! ab, of the Apache HTTP server: a closed loop over HTTP/1.0.

mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, PERCENTILES, SAMPLES, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

pub(crate) use parse::{parse as parse_output, percentiles};

/// ab stops at a number of requests even with a time limit. This is more than it can make in the longest run.
const MAX_REQUESTS: u64 = 10_000_000;

/// ab with `users` kept-alive connections for the duration.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
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
    },
    |search_path| locate_program(search_path, NAME, &["-V"]),
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output),
);

/// `-n` comes after `-t`, which would set it to 50,000. Without `-r`, a reset would end the run without a report.
/// `-s` is not a timeout per request: it ends the run if no connection makes progress for that time.
fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let timed = format!("-q -k -r -t {} -n {MAX_REQUESTS} -c {}", load.whole_seconds(), load.users);
    let mut invocation = Invocation::new(found, &timed).words("-g samples.tsv -e percentiles.csv");
    if let Some(seconds) = load.timeout_seconds() {
        invocation = invocation.words(&format!("-s {seconds}"));
    }
    let outputs = vec![(SAMPLES, "samples.tsv".to_owned()), (PERCENTILES, "percentiles.csv".to_owned())];
    Invocation { outputs, ..invocation.arg(&load.url) }
}
