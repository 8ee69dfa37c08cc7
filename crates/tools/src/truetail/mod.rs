//! truetail as an open loop, as a closed loop, and against a language model. Like all tools, it is judged by its
//! output.

mod parse;
mod streams;

use std::path::{Path, PathBuf};

use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;

use self::parse::{SAMPLES, TESTED};
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport, model,
};

/// truetail in one mode.
pub enum Truetail {
    /// An open loop, on a schedule.
    Open,
    /// A closed loop of users that wait for their answers.
    Closed,
    /// An open loop against a language model, whose answers are streams.
    Model,
}

const PROGRAM: &str = "truetail";
const RUN: &str = "run";
/// Minimum of the drain limit. In longer runs it is 1.5 times the duration: a saturated service may need that long for
/// its backlog.
const MIN_DRAIN: Nanos = Nanos::from_secs(30);

const OPEN: ToolInfo = ToolInfo {
    name: "truetail",
    label_model: LoadModelKind::Open,
    clock: "from the intended start of each planned request; requests without an answer count as slower than every \
            answer",
    install: INSTALL,
    tested_version: TESTED,
};

const CLOSED: ToolInfo = ToolInfo {
    name: "truetail-closed",
    label_model: LoadModelKind::Closed,
    clock: "from the moment a user sends, after waiting for the previous answer: all that a closed loop can know",
    install: INSTALL,
    tested_version: TESTED,
};

const MODEL: ToolInfo = ToolInfo {
    name: "truetail-llm",
    label_model: LoadModelKind::Open,
    clock: "time to first token from the intended start of each planned request; each gap between events that were not read \
            together",
    install: INSTALL,
    tested_version: TESTED,
};

const INSTALL: InstallHint = InstallHint::anywhere("this repository", "cargo build --release");

impl Tool for Truetail {
    fn info(&self) -> &ToolInfo {
        match self {
            Truetail::Open => &OPEN,
            Truetail::Closed => &CLOSED,
            Truetail::Model => &MODEL,
        }
    }

    fn measures_streams(&self) -> bool {
        matches!(self, Truetail::Model)
    }

    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        locate(search_path)
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let drain = MIN_DRAIN + Nanos(load.duration.0 + load.duration.0 / 2);
        let open = format!("-r {} -c {} --drain {drain}", load.rate.as_per_second(), load.connections);
        Ok(match self {
            Truetail::Open => invocation(found, load, &open),
            Truetail::Closed => invocation(found, load, &format!("--model closed --users {}", load.users)),
            Truetail::Model => {
                let body = model::body(load).to_string();
                invocation(found, load, &format!("{open} --llm openai-completions")).words("--data").arg(body)
            }
        })
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        match self {
            Truetail::Open => parse::open(output),
            Truetail::Closed => parse::closed(output),
            Truetail::Model => parse::model(output),
        }
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
    let mut invocation = Invocation::new(found, "run").arg(&load.url).words(&format!("-d {} {model}", load.duration));
    if let Some(timeout) = load.timeout {
        invocation = invocation.words(&format!("--timeout {timeout}"));
    }
    let invocation = invocation.words(&format!("--json --quiet --out {RUN}"));
    Invocation { outputs: vec![(SAMPLES, format!("{RUN}/{SAMPLES}"))], ..invocation }
}
