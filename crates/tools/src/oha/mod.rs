//! oha, by hatoo: a rate over a number of connections.

mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::locate_program;
use crate::{InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

pub(crate) use parse::{Correction, parse as parse_output};

/// oha with `rate`, at most `connections` connections, and its latency correction, which its documentation recommends
/// for a rate. It writes one format per run; only CSV has single requests.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Open,
        clock: "from the moment its pacer woke up to send the request (--latency-correction); leaves out failed, \
                timed-out and aborted requests and the backlog at the end",
        install: InstallHint { origin: "crates.io", debian: "tools/install.sh oha", macos: Some("brew install oha") },
        tested_version: TESTED,
    },
    |search_path| locate_program(search_path, NAME, &["--version"]),
    |found, load, _| Ok(command(found, load)),
    |output, _| parse::parse(output, Correction::Unknown),
)
.parsing_with_args(|argv, output| parse::parse(output, correction(argv)));

/// `-w` waits for requests in flight at the end. They would be aborted otherwise. The backlog is lost in both
/// cases.
fn command(found: &InstalledTool, load: &LoadSpec) -> Invocation {
    let rate = load.rate.as_per_second();
    let connections = load.connections;
    let timed = format!("--no-tui -w -z {}ms -q {rate} -c {connections}", load.whole_millis());
    let invocation = Invocation::new(found, &timed).words("--latency-correction --output-format csv");
    invocation.words_if(load.timeout_millis().map(|millis| format!("-t {millis}ms"))).arg(&load.url)
}

/// Without a rate, oha ignores the correction.
fn correction(argv: &[String]) -> Correction {
    let is_corrected = has_rate(argv) && argv.iter().any(|word| word == "--latency-correction");
    if is_corrected { Correction::On } else { Correction::Off }
}

/// Returns true if the command sets a rate. Bursts count as a rate; `-q 0` does not.
fn has_rate(argv: &[String]) -> bool {
    let is_none = |rate: &str| rate.parse() == Ok(0.0);
    let next = argv.iter().skip(1).map(String::as_str).chain([""]);
    argv.iter().zip(next).any(|(word, next)| match word.strip_prefix("-q") {
        Some("") => !is_none(next),
        Some(rate) => !is_none(rate.trim_start_matches('=')),
        None => word.starts_with("--burst-"),
    })
}
