//! k6, by Grafana Labs: virtual users in a closed loop, or arrivals at a constant rate.

mod model;
mod parse;
mod script;

use truetail_model::workload::LoadModelKind;

use self::parse::{SAMPLES, SUMMARY, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, Protocols, SearchPath, ToolInfo, ToolNotFound, grpc};

pub(crate) use model::MODEL;
pub(crate) use parse::{call_outcome, outcome, summary_file};

const CLOSED: &str = "k6-constant-vus";
const OPEN: &str = "k6-constant-arrival-rate";
const INSTALL: InstallHint =
    InstallHint { origin: "Go module proxy", debian: "tools/install.sh k6", macos: Some("brew install k6") };

/// `users` virtual users, each in a closed loop.
pub(crate) static CONSTANT_VUS: KnownTool = KnownTool::new(
    ToolInfo {
        name: CLOSED,
        label_model: LoadModelKind::Closed,
        clock: "from sending the request, without connecting; a refused request counts as 0 ms, a timeout with the time \
                until it; silently retries after a reset on a kept connection; over gRPC it leaves out calls that meet \
                their deadline, and counts no failures",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| Ok(with_schema(load, invocation(found, script::constant_vus(load)))),
    |output, _| parse::parse(CLOSED, output),
)
.speaking(Protocols::HttpAndGrpc);

/// Iterations that start at `rate`, each on a free virtual user. 1,500 users are created in advance, and up to 5,000 if
/// necessary. An iteration without a free user is dropped.
pub(crate) static CONSTANT_ARRIVAL_RATE: KnownTool = KnownTool::new(
    ToolInfo {
        name: OPEN,
        label_model: LoadModelKind::Open,
        clock: "from sending the request, without connecting and without the wait for a virtual user; a refused request \
                counts as 0 ms, a timeout with the time until it; drops iterations that find no free virtual user; \
                silently retries after a reset on a kept connection; over gRPC it leaves out calls that meet \
                their deadline, and counts no failures",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| Ok(with_schema(load, invocation(found, script::constant_arrival_rate(load, OPEN)?))),
    |output, _| parse::parse(OPEN, output),
)
.speaking(Protocols::HttpAndGrpc);

/// Adds the schema of the method that a script calls.
fn with_schema(load: &LoadSpec, mut invocation: Invocation) -> Invocation {
    if load.is_grpc() {
        invocation.inputs.push((grpc::FILE.to_owned(), grpc::PROTO.to_owned()));
    }
    invocation
}

fn locate(search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
    locate_program(search_path, "k6", &["version"])
}

/// `unix_nano`, because timestamps are in whole seconds by default. The empty address prevents k6 from opening a port.
fn invocation(found: &InstalledTool, script: String) -> Invocation {
    let quiet = Invocation::new(found, "run --no-usage-report --no-color --quiet --address").arg("");
    Invocation {
        env: vec![("K6_CSV_TIME_FORMAT".to_owned(), "unix_nano".to_owned())],
        inputs: vec![("load.js".to_owned(), script)],
        outputs: vec![(SAMPLES, SAMPLES.to_owned()), (SUMMARY, SUMMARY.to_owned())],
        ..quiet.words("--summary-export=summary.json --out csv=samples.csv load.js")
    }
}
