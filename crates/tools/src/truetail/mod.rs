//! truetail itself, on a schedule and as users who wait: judged like all the others, from what it leaves behind.

mod parse;

use std::path::{Path, PathBuf};

use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;

use crate::{CommandError, Found, Install, Invocation, Load, Lookup, Missing, Output, ParseError, Report, Tool};

/// truetail with its schedule.
pub struct Open;

/// truetail with users who wait for their answers.
pub struct Closed;

const PROGRAM: &str = "truetail";
const TESTED: &str = env!("CARGO_PKG_VERSION");
/// The folder of the run, and the file in it with single requests.
const RUN: &str = "run";
const SAMPLES: &str = "samples.csv";
/// The backlog of a saturated service may take as long again as it took to arrive, and this much more.
const LEAST_DRAIN: Nanos = Nanos::from_secs(30);

impl Tool for Open {
    fn name(&self) -> &'static str {
        "truetail"
    }

    fn label_model(&self) -> LoadModelKind {
        LoadModelKind::Open
    }

    fn says_of_its_clock(&self) -> &'static str {
        "from the intended start of each planned request; those without an answer stay in, slower than every answer"
    }

    fn install(&self) -> Install {
        INSTALL
    }

    fn tested_version(&self) -> &'static str {
        TESTED
    }

    fn find(&self, lookup: &Lookup) -> Result<Found, Missing> {
        find(lookup)
    }

    fn command(&self, found: &Found, load: &Load, _folder: &Path) -> Result<Invocation, CommandError> {
        let drain = LEAST_DRAIN + Nanos(load.duration.0 + load.duration.0 / 2);
        let model =
            ["-r".to_owned(), load.rate.as_per_second().to_string(), "-c".to_owned(), load.connections.to_string()];
        Ok(invocation(found, load, model.into_iter().chain(["--drain".to_owned(), drain.to_string()])))
    }

    fn parse(&self, output: &Output, _load: &Load) -> Result<Report, ParseError> {
        parse::open(output)
    }
}

impl Tool for Closed {
    fn name(&self) -> &'static str {
        "truetail-closed"
    }

    fn label_model(&self) -> LoadModelKind {
        LoadModelKind::Closed
    }

    fn says_of_its_clock(&self) -> &'static str {
        "from the moment at which a user asks, who has waited for the answer before: what a closed loop can know"
    }

    fn install(&self) -> Install {
        INSTALL
    }

    fn tested_version(&self) -> &'static str {
        TESTED
    }

    fn find(&self, lookup: &Lookup) -> Result<Found, Missing> {
        find(lookup)
    }

    fn command(&self, found: &Found, load: &Load, _folder: &Path) -> Result<Invocation, CommandError> {
        let model = ["--model", "closed", "--users", &load.users.to_string()].map(str::to_owned);
        Ok(invocation(found, load, model.into_iter()))
    }

    fn parse(&self, output: &Output, _load: &Load) -> Result<Report, ParseError> {
        parse::closed(output)
    }
}

const INSTALL: Install =
    Install { origin: "this repository", debian: "cargo build --release", macos: Some("cargo build --release") };

/// This very program, where it is truetail (a Python that runs it is not), else the one on the path.
fn find(lookup: &Lookup) -> Result<Found, Missing> {
    let is_it = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == PROGRAM);
    let path = match std::env::current_exe().ok().filter(is_it) {
        Some(path) => path,
        None => lookup.program(PROGRAM)?,
    };
    let version = crate::find::says(&path, &["--version"]);
    let version = version.split_whitespace().last().unwrap_or("unknown").to_owned();
    Ok(Found { path, version })
}

fn invocation(found: &Found, load: &Load, model: impl Iterator<Item = String>) -> Invocation {
    let mut args = vec!["run".to_owned(), load.url.clone(), "-d".to_owned(), load.duration.to_string()];
    args.extend(model);
    if let Some(timeout) = load.timeout {
        args.extend(["--timeout".to_owned(), timeout.to_string()]);
    }
    args.extend(["--json", "--quiet", "--out", RUN].map(str::to_owned));
    let outputs = vec![(SAMPLES, format!("{RUN}/{SAMPLES}"))];
    Invocation { program: found.path.clone(), args, outputs, ..Invocation::default() }
}
