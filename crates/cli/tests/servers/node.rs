//! Server of Node's standard library.

use std::process::Command;

use crate::missing::missing;
use crate::program::{ServerProcess, arguments, certify, source, starts};
use crate::support::TestDir;

pub fn is_here() -> bool {
    let is_here = starts("node", "--version");
    if !is_here {
        missing("node", "tools/install.sh node");
    }
    is_here
}

pub fn start(dir: &TestDir, most_on_one: Option<u32>) -> ServerProcess {
    certify(dir);
    let mut command = Command::new("node");
    command.arg(source("server.mjs")).args(arguments(dir, most_on_one));
    ServerProcess::start(command, dir)
}
