//! ghz, by Bojan Djurkovic: gRPC calls by workers that wait for each answer, or asynchronously, at up to a rate.

mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, RESULT, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::{CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, Protocols, SearchPath, ToolInfo, grpc};
use crate::{ToolNotFound, ToolOutput};

pub use parse::GhzResult;
pub(crate) use parse::{csv_row, json_result};

const ASYNC: &str = "ghz-async";
/// Workers by default (`-c`).
const WORKERS: u32 = 50;
const INSTALL: InstallHint = InstallHint::anywhere("Go module proxy", "tools/install.sh ghz");

/// ghz with a rate and its default number of workers, which each wait for an answer.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Closed,
        clock: "from the start of the call by a worker, which may be later than the rate planned; percentiles leave out calls \
                that failed",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| command(NAME, found, load, &format!("-c {WORKERS}")),
    |output: &ToolOutput, _| parse::parse(NAME, output),
)
.with_users(|_| WORKERS)
.speaking(Protocols::Grpc);

/// ghz that does not wait for answers before it makes the next call.
pub(crate) static WITHOUT_WAITING: KnownTool = KnownTool::new(
    ToolInfo {
        name: ASYNC,
        label_model: LoadModelKind::Open,
        clock: "from the start of the call; percentiles leave out calls that failed",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| command(ASYNC, found, load, "--async"),
    |output: &ToolOutput, _| parse::parse(ASYNC, output),
)
.speaking(Protocols::Grpc);

fn locate(search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
    locate_program(search_path, NAME, &["--version"])
}

/// Returns the command line for a number of calls (`-n`). With a duration (`-z`) ghz would cut off the calls in flight
/// at its end.
fn command(
    tool: &'static str,
    found: &InstalledTool,
    load: &LoadSpec,
    workers: &str,
) -> Result<Invocation, CommandError> {
    let rate = load.rate.as_per_second();
    if rate.fract() != 0.0 {
        let why = format!("its --rps takes a whole number of calls per second, not {rate}");
        return Err(CommandError { tool, why });
    }
    let (address, method) = grpc::address_and_method(&load.url);
    let timeout = load.timeout_millis().map(|millis| format!("-t {millis}ms"));
    let invocation = Invocation::new(found, &format!("--insecure --proto {} --call", grpc::FILE))
        .arg(method)
        .words(&format!("-d {{}} --rps {rate} {workers} -n {} -O json -o result.json", load.due()))
        .words_if(timeout)
        .arg(address);
    Ok(Invocation {
        inputs: vec![(grpc::FILE.to_owned(), grpc::PROTO.to_owned())],
        outputs: vec![(RESULT, "result.json".to_owned())],
        ..invocation
    })
}
