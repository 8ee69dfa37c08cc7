//! Vegeta, by Tomás Senart: a constant rate, with as many workers as necessary.

mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, REPORT, RESULTS, TESTED};
use crate::known_tool::KnownTool;
use crate::locate::{printed_by, version_in};
use crate::{CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, SearchPath, ToolInfo, ToolNotFound};

pub(crate) use parse::report_file;

/// `vegeta attack` with `rate` over at most `connections` workers.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Open,
        clock: "from the moment a worker took the request, which is on schedule while workers are free; a request that \
                finds none free is sent later and timed from then; does not mention requests still due at the end; \
                failures count with the time until they failed; silently retries after a reset on a kept connection",
        install: InstallHint {
            origin: "source",
            debian: "apt-get install -y git golang && git clone https://github.com/tsenart/vegeta && \
                     (cd vegeta && go build -ldflags '-X main.Version=12.13.0' -o ~/.cache/truetail/tools/bin/vegeta .)  # Go 1.24 or later",
            macos: Some("brew install vegeta"),
        },
        tested_version: TESTED,
    },
    locate,
    |found, load, _| command(found, load),
    parse::parse,
);

/// The version is known only in a build by its release script, or with the version set.
fn locate(search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
    let path = search_path.program(NAME)?;
    let said = printed_by(&path, &["-version"]);
    let version = version_in(said.lines().find_map(|line| line.strip_prefix("Version:")).unwrap_or_default());
    Ok(InstalledTool { path, version })
}

fn command(found: &InstalledTool, load: &LoadSpec) -> Result<Invocation, CommandError> {
    let (requests, seconds) = load.whole_rate(NAME)?;
    let timed = format!("attack -rate={requests}/{seconds}s -duration={}ms", load.whole_millis());
    let limits = format!("-max-workers={} -max-body=0 -redirects=-1 -output=results.bin", load.connections);
    let mut invocation = Invocation::new(found, &timed).words(&limits);
    if let Some(millis) = load.timeout_millis() {
        invocation = invocation.words(&format!("-timeout={millis}ms"));
    }
    let decoder = |words: [&str; 3]| {
        let program = found.path.display().to_string();
        [program].into_iter().chain(words.map(str::to_owned)).collect()
    };
    Ok(Invocation {
        stdin: format!("GET {}\n", load.url),
        after: vec![
            (RESULTS.to_owned(), decoder(["encode", "-to=csv", "results.bin"])),
            (REPORT.to_owned(), decoder(["report", "-type=json", "results.bin"])),
        ],
        outputs: vec![(RESULTS, RESULTS.to_owned()), (REPORT, REPORT.to_owned())],
        ..invocation
    })
}
