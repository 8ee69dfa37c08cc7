//! Watching a run in progress: the live page, its events, `/metrics`, and OTLP.
//!
//! The tests with a real Prometheus are ignored by `make test`; `make test-tools` installs it and runs them.

#[allow(dead_code, reason = "the other tests use the rest of it")]
#[path = "../cli/support.rs"]
mod support;

mod client;
mod hostile;
#[path = "../../../../tests/missing.rs"]
mod missing;
mod otlp;
mod page;
mod prometheus;

use std::net::SocketAddr;
use std::path::PathBuf;

use support::{ServeProcess, TestDir, TestProcess};

/// A server that answers after 10 ms.
const SMOOTH: &str = "name = \"smooth\"\nabout = \"always the same\"\n[workload]\nrate = 100\nduration = \"1s\"\n\
    [service]\nbaseline = \"10ms\"\n";

/// A run in progress, with its live page.
struct LiveRun {
    dir: TestDir,
    process: TestProcess,
    address: SocketAddr,
    _served: ServeProcess,
}

impl LiveRun {
    /// Starts a run of 200 requests per second for `duration`.
    fn start(duration: &str, more: &[&str]) -> LiveRun {
        let dir = TestDir::new();
        let served = ServeProcess::start(&dir, dir.file("smooth.toml", SMOOTH));
        let api = served.api();
        let arguments = ["run", &api, "-r", "200", "-d", duration, "--live", "127.0.0.1:0", "--out", "run"];
        let mut process = TestProcess::start(dir.command(&[&arguments, more].concat()));
        let line = process.wait_for_stderr("live page on http://");
        let address = line.split("http://").nth(1).and_then(|rest| rest.trim_end_matches('/').parse().ok());
        LiveRun { address: address.unwrap_or_else(|| panic!("{line}")), dir, process, _served: served }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("run")
    }
}
