//! k6, by Grafana Labs: virtual users in a closed loop, or arrivals at a constant rate.

mod model;
mod parse;
mod script;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use self::parse::{SAMPLES, SUMMARY, TESTED};
use crate::locate::locate_program;
use crate::{
    CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, Tool, ToolInfo,
    ToolNotFound, ToolOutput, ToolReport,
};

pub use model::K6Model;
pub(crate) use parse::summary_file;

/// k6 with one of two executors.
pub enum K6 {
    /// `users` virtual users, each in a closed loop.
    ConstantVus,
    /// Iterations that start at `rate`, each on a free virtual user. 1,500 users are created in advance, and up to
    /// 5,000 if necessary. An iteration without a free user is dropped.
    ConstantArrivalRate,
}

const CONSTANT_VUS: ToolInfo = ToolInfo {
    name: "k6-constant-vus",
    label_model: LoadModelKind::Closed,
    clock: "from sending the request, without connecting; a refused request counts as 0 ms, a timeout with the time \
            until it; silently retries after a reset on a kept connection",
    install: INSTALL,
    tested_version: TESTED,
};

const CONSTANT_ARRIVAL_RATE: ToolInfo = ToolInfo {
    name: "k6-constant-arrival-rate",
    label_model: LoadModelKind::Open,
    clock: "from sending the request, without connecting and without the wait for a virtual user; a refused request \
            counts as 0 ms, a timeout with the time until it; drops iterations that find no free virtual user; \
            silently retries after a reset on a kept connection",
    install: INSTALL,
    tested_version: TESTED,
};

const INSTALL: InstallHint =
    InstallHint { origin: "Go module proxy", debian: "tools/install.sh k6", macos: Some("brew install k6") };

impl Tool for K6 {
    fn info(&self) -> &ToolInfo {
        match self {
            K6::ConstantVus => &CONSTANT_VUS,
            K6::ConstantArrivalRate => &CONSTANT_ARRIVAL_RATE,
        }
    }

    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        locate_program(search_path, "k6", &["version"])
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, _folder: &Path) -> Result<Invocation, CommandError> {
        let script = match self {
            K6::ConstantVus => script::constant_vus(load),
            K6::ConstantArrivalRate => script::constant_arrival_rate(load, self.name())?,
        };
        Ok(invocation(found, script))
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        parse::parse(self.name(), output)
    }
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
