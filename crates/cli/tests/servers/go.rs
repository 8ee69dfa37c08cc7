//! Server of Go's standard library.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::missing::missing;
use crate::program::{ServerProcess, arguments, certify, source, starts};
use crate::support::TestDir;

/// Builds the server, using Go's cache. Returns `None` without Go.
pub fn build() -> Option<PathBuf> {
    if !starts("go", "version") {
        missing("go", "your package manager, 1.24 or later");
        return None;
    }
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-server");
    let mut command = Command::new("go");
    // The server needs only the standard library, and Go must not download another version of itself.
    command.envs([("GO111MODULE", "off"), ("GOTOOLCHAIN", "local"), ("GOFLAGS", "")]);
    let built = command.arg("build").arg("-o").arg(&program).arg(source("server.go")).output().expect("go starts");
    let output = String::from_utf8_lossy(&built.stderr);
    if output.contains("undefined: http.Protocols") || output.contains("server.Protocols undefined") {
        missing("go 1.24 or later", "your package manager");
        return None;
    }
    assert!(built.status.success(), "{output}");
    Some(program)
}

pub fn start(program: &Path, dir: &TestDir, most_on_one: Option<u32>) -> ServerProcess {
    certify(dir);
    let mut command = Command::new(program);
    command.args(arguments(dir, most_on_one));
    ServerProcess::start(command, dir)
}
