//! The server of Node's standard library.

use std::process::Command;

use crate::program::{Served, arguments, certify, skip, source, starts};
use crate::support::Desk;

pub fn is_here() -> bool {
    let is_here = starts("node", "--version");
    if !is_here {
        skip("node", "tools/install.sh node");
    }
    is_here
}

pub fn start(desk: &Desk, most_on_one: Option<u32>) -> Served {
    certify(desk);
    let mut command = Command::new("node");
    command.arg(source("server.mjs")).args(arguments(desk, most_on_one));
    Served::start(command, desk)
}
