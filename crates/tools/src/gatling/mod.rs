//! Gatling: one simulated user for each arrival.

mod beginning;
mod binary;
mod log;
mod parse;
mod text;

use truetail_model::workload::LoadModelKind;

use self::log::{LOG, NAME, TESTED};
use crate::jars::{class_path, java, locate_compiled};
use crate::known_tool::KnownTool;
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

pub use beginning::{GatlingLog, read_log};

/// Reduces the output, which has thousands of lines by default.
const LOGBACK: &str = "<configuration><root level=\"WARN\"/></configuration>\n";

/// Gatling with users that arrive at `rate`, send one request each, and share as many connections as necessary.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Open,
        clock: "from handing the request to its HTTP client, connecting included, in whole milliseconds; failures count \
                with the time until they failed; silently retries after a reset",
        install: InstallHint::anywhere("Maven Central", "tools/install.sh gatling"),
        tested_version: TESTED,
    },
    |search_path| {
        locate_compiled(search_path, NAME, "gatling-core", "LoadSimulation", include_str!("LoadSimulation.java"))
    },
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output),
);

/// Gatling has no limit on connections. Without `--add-opens`, its first users would be delayed.
fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let settings = "-Xmx1g --add-opens=java.base/java.lang=ALL-UNNAMED -Dlogback.configurationFile=logback.xml";
    let load_of = format!("-Drate={} -Dduration_ms={}", load.rate.as_per_second(), load.whole_millis());
    let mut java = java(settings).words(&load_of).arg(format!("-Durl={}", load.url));
    if let Some(millis) = load.timeout_millis() {
        java = java.words(&format!("-Dgatling.http.requestTimeout={millis}"));
    }
    Invocation {
        inputs: vec![("logback.xml".to_owned(), LOGBACK.to_owned())],
        outputs: vec![(LOG, format!("results/*/{LOG}"))],
        ..java.arg("-cp").arg(class_path(found)).words("io.gatling.app.Gatling -s LoadSimulation -rf results")
    }
}
