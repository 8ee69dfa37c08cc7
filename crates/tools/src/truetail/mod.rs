//! truetail as an open loop, as a closed loop, and against a language model. Like all tools, it is judged by its
//! output.

mod parse;
mod streams;

use std::path::PathBuf;

use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;

use self::parse::{SAMPLES, TESTED};
use crate::known_tool::KnownTool;
use crate::{
    InstallHint, InstalledTool, Invocation, LoadSpec, Protocols, SearchPath, ToolInfo, ToolNotFound, grpc, model,
};

const PROGRAM: &str = "truetail";
const RUN: &str = "run";
const INSTALL: InstallHint = InstallHint::anywhere("this repository", "cargo build --release");
/// Minimum of the drain limit. In longer runs it is 1.5 times the duration: a saturated service may need that long for
/// its backlog.
const MIN_DRAIN: Nanos = Nanos::from_secs(30);

/// An open loop, on a schedule.
pub(crate) static OPEN: KnownTool = KnownTool::new(
    ToolInfo {
        name: "truetail",
        label_model: LoadModelKind::Open,
        clock: "from the intended start of each planned request; requests without an answer count as slower than every \
                answer",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| Ok(invocation(found, load, &open(load))),
    |output, _| parse::open(output),
)
.speaking(Protocols::HttpAndGrpc);

/// A closed loop of users that wait for their answers.
pub(crate) static CLOSED: KnownTool = KnownTool::new(
    ToolInfo {
        name: "truetail-closed",
        label_model: LoadModelKind::Closed,
        clock: "from the moment a user sends, after waiting for the previous answer: all that a closed loop can know",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| Ok(invocation(found, load, &format!("--model closed --users {}", load.users))),
    |output, _| parse::closed(output),
)
.speaking(Protocols::HttpAndGrpc);

/// An open loop against a language model, whose answers are streams.
pub(crate) static MODEL: KnownTool = KnownTool::new(
    ToolInfo {
        name: "truetail-llm",
        label_model: LoadModelKind::Open,
        clock: "time to first token from the intended start of each planned request; each gap between events that were not read \
                together",
        install: INSTALL,
        tested_version: TESTED,
    },
    locate,
    |found, load, _| {
        let options = format!("{} --llm openai-completions", open(load));
        Ok(invocation(found, load, &options).words("--data").arg(model::body(load).to_string()))
    },
    |output, _| parse::model(output),
)
.measuring_streams();

fn open(load: &LoadSpec) -> String {
    let drain = MIN_DRAIN + Nanos(load.duration.0 + load.duration.0 / 2);
    let rate = load.rate.as_per_second();
    match load.is_grpc() {
        // Calls share a connection.
        true => format!("-r {rate} --drain {drain}"),
        false => format!("-r {rate} -c {} --drain {drain}", load.connections),
    }
}

/// Locates the current program if it is truetail, or else the one on the path. Python may run this code too.
fn locate(search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
    let is_it = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == PROGRAM);
    let path = match std::env::current_exe().ok().filter(is_it) {
        Some(path) => path,
        None => search_path.program(PROGRAM)?,
    };
    let version = crate::locate::printed_by(&path, &["--version"]);
    let version = version.split_whitespace().last().unwrap_or("unknown").to_owned();
    Ok(InstalledTool { path, version })
}

fn invocation(found: &InstalledTool, load: &LoadSpec, model: &str) -> Invocation {
    let invocation = Invocation::new(found, "run")
        .arg(&load.url)
        .words_if(load.is_grpc().then(|| format!("--proto {}", grpc::FILE)))
        .words(&format!("-d {} {model}", load.duration));
    let invocation = invocation
        .words_if(load.timeout.map(|timeout| format!("--timeout {timeout}")))
        .words(&format!("--json --quiet --out {RUN}"));
    let inputs = load.is_grpc().then(|| (grpc::FILE.to_owned(), grpc::PROTO.to_owned())).into_iter().collect();
    Invocation { inputs, outputs: vec![(SAMPLES, format!("{RUN}/{SAMPLES}"))], ..invocation }
}
