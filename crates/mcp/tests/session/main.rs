//! A session as a client sees it, without processes: what it answers, which commands it starts, and what it refuses.

mod calls;
mod refusals;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use truetail_mcp::{Files, Job, JobOutput, Limits, Session, Step};
use truetail_model::time::{Nanos, Rate};

/// Files of a folder `/runs` that may be read, `/out` for runs, and a link in `/runs` that leads out.
struct FakeFiles;

impl Files for FakeFiles {
    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        match path.to_str() {
            Some("/runs/link") => Ok("/etc/passwd".into()),
            Some("a" | "/runs/a" | "/runs/../runs/a") => Ok("/runs/a".into()),
            Some(known @ ("/runs/b" | "/out" | "/out/run-1" | "/etc/passwd" | "/runs-of-others/a")) => Ok(known.into()),
            _ => Err(ErrorKind::NotFound.into()),
        }
    }

    fn free_name(&self, parent: &Path, start: &str) -> String {
        assert_eq!(parent, Path::new("/out"));
        format!("{start}-1")
    }
}

fn limits() -> Limits {
    Limits {
        hosts: Vec::new(),
        methods: ["GET", "HEAD"].map(str::to_owned).to_vec(),
        longest: Nanos::from_secs(60),
        highest: Rate::per_second(500.0).unwrap(),
        out: Some("/out".into()),
        readable: vec!["/runs".into()],
    }
}

fn session() -> Session<FakeFiles> {
    Session::new(limits(), FakeFiles)
}

fn call(id: u64, tool: &str, arguments: &Value) -> Vec<u8> {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string().into_bytes()
}

/// Returns the only message of these steps.
fn sent(steps: &[Step]) -> Value {
    match steps {
        [Step::Send(line)] => serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")),
        other => panic!("{other:?}"),
    }
}

/// Returns the only command of these steps.
fn started(steps: &[Step]) -> Job {
    match steps {
        [Step::Start(job)] => job.clone(),
        other => panic!("{other:?}"),
    }
}

/// Returns the output of a command that printed this.
fn output(code: i32, printed: &Value) -> JobOutput {
    JobOutput { code: Some(code), stdout: printed.to_string().into_bytes(), stderr: String::new() }
}
