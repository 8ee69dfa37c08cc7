//! The server of Go's standard library.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{Served, arguments, certify, skip, source, starts};
use crate::support::Desk;

/// The program, of which Go keeps what it needs for the next time; `None` where there is no Go.
pub fn build() -> Option<PathBuf> {
    if !starts("go", "version") {
        skip("go", "your package manager, 1.24 or later");
        return None;
    }
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-server");
    let mut command = Command::new("go");
    // It needs nothing but its standard library, and is not to fetch another version of itself.
    command.envs([("GO111MODULE", "off"), ("GOTOOLCHAIN", "local"), ("GOFLAGS", "")]);
    let built = command.arg("build").arg("-o").arg(&program).arg(source("server.go")).output().expect("go starts");
    let told = String::from_utf8_lossy(&built.stderr);
    if told.contains("undefined: http.Protocols") || told.contains("server.Protocols undefined") {
        skip("go 1.24 or later", "your package manager");
        return None;
    }
    assert!(built.status.success(), "{told}");
    Some(program)
}

pub fn start(program: &Path, desk: &Desk, most_on_one: Option<u32>) -> Served {
    certify(desk);
    let mut command = Command::new(program);
    command.args(arguments(desk, most_on_one));
    Served::start(command, desk)
}
