//! Hyperfoil: sessions that arrive at a constant rate.

mod parse;

use truetail_model::workload::LoadModelKind;

use self::parse::{NAME, RESULT, TESTED};
use crate::jars::{class_path, java, locate_compiled};
use crate::known_tool::KnownTool;
use crate::{CommandError, InstallHint, InstalledTool, Invocation, LoadSpec, ToolInfo};

pub(crate) use parse::result_file;

/// Hyperfoil with sessions that arrive evenly at `rate`, limited to `connections` connections and sessions.
pub(crate) static TOOL: KnownTool = KnownTool::new(
    ToolInfo {
        name: NAME,
        label_model: LoadModelKind::Open,
        clock: "from creating the request, including the wait for a connection but not for a free session; leaves out \
                requests without an answer",
        install: InstallHint::anywhere("Maven Central", "tools/install.sh hyperfoil"),
        tested_version: TESTED,
    },
    |search_path| {
        locate_compiled(search_path, NAME, "hyperfoil-core", "RunBenchmark", include_str!("RunBenchmark.java"))
    },
    |found, load, _| command(found, load),
    parse::parse,
);

fn command(found: &InstalledTool, load: &LoadSpec) -> Result<Invocation, CommandError> {
    let java = java("-Dorg.apache.logging.log4j.level=ERROR -cp").arg(class_path(found));
    Ok(Invocation {
        inputs: vec![("benchmark.hf.yaml".to_owned(), benchmark(load)?)],
        outputs: vec![(RESULT, RESULT.to_owned())],
        ..java.words("RunBenchmark benchmark.hf.yaml").arg(RESULT)
    })
}

/// Returns the benchmark file. Without `variance: false`, arrivals would be a Poisson process. Without `CONTINUE`, a
/// session beyond the limit would end the run.
fn benchmark(load: &LoadSpec) -> Result<String, CommandError> {
    let (host, path) = host_and_path(&load.url)?;
    let rate = load.rate.as_per_second();
    let millis = load.whole_millis();
    let connections = load.connections;
    let timeout = load.timeout_millis().map_or_else(String::new, |ms| format!("            timeout: {ms}ms\n"));
    Ok(format!(
        "name: load
http:
  host: {host:?}
  sharedConnections: {connections}
phases:
- load:
    constantRate:
      usersPerSec: {rate}
      variance: false
      duration: {millis}ms
      maxSessions: {connections}
      sessionLimitPolicy: CONTINUE
      scenario:
      - fetch:
        - httpRequest:
            GET: {path:?}
{timeout}"
    ))
}

/// Splits a URL into `http://127.0.0.1:8080` and `/api`.
fn host_and_path(url: &str) -> Result<(&str, &str), CommandError> {
    let why = || format!("'{url}' has no host and path; write http://127.0.0.1:8080/api");
    let after_scheme = url.find("://").map(|at| at + 3);
    let path = after_scheme.and_then(|at| Some(at + url[at..].find('/')?));
    path.map(|at| url.split_at(at)).ok_or_else(|| CommandError { tool: NAME, why: why() })
}

#[cfg(test)]
mod tests {
    use super::host_and_path;

    #[test]
    fn an_address_in_two_parts() {
        assert_eq!(host_and_path("http://127.0.0.1:8080/a/b?c=/d"), Ok(("http://127.0.0.1:8080", "/a/b?c=/d")));
        for without in ["http://127.0.0.1:8080", "127.0.0.1/api", ""] {
            let error = host_and_path(without).expect_err("no address").to_string();
            assert!(error.contains(&format!("'{without}'")), "{error}");
        }
    }
}
