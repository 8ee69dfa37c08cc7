//! An application with logins, CSRF tokens and sessions in SQLite (`tests/apps/shop`). Its Hurl test runs unchanged
//! under Hurl and as a load, and its log agrees with the books. `acceptance/application.py` does this for longer.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use truetail_tools::SearchPath;

use crate::missing::missing;
use crate::program::{ServerProcess, starts};
use crate::support::{TestDir, assert_balanced};
use crate::test_requests::Logged;

/// Sessions of the run: 20 per second for two seconds.
const SESSIONS: usize = 40;
/// Steps of `shop.hurl`, with their lines in the log.
const STEPS: [(&str, &str, &str, u16); 6] = [
    ("form", "GET", "/login", 200),
    ("login", "POST", "/login", 302),
    ("items", "GET", "/items", 200),
    ("order", "POST", "/orders", 201),
    ("logout", "POST", "/logout", 302),
    ("gone", "GET", "/items", 302),
];
const SOURCES: [&str; 4] = ["serve.mjs", "database.mjs", "pages.mjs", "store.mjs"];

/// Returns the npm modules that the shop needs, if installed.
pub fn find() -> Option<PathBuf> {
    let modules = SearchPath::from_env().folder.join("shop/node_modules");
    let found = Some(modules).filter(|modules| starts(node(modules), "--version"));
    if found.is_none() {
        missing("the shop's Node.js", "tools/install.sh shop");
    }
    found
}

fn node(modules: &Path) -> PathBuf {
    modules.join(".bin/node")
}

pub fn shop(modules: &Path) {
    under_hurl(modules);
    as_a_load(modules);
}

fn under_hurl(modules: &Path) {
    let Ok(hurl) = SearchPath::from_env().program("hurl") else {
        missing("hurl", "tools/install.sh hurl");
        return;
    };
    let (_dir, served) = start(modules);
    let host = format!("host={}", served.origin("http"));
    let variables = [&*host, "user=user007", "password=pass word&007"];
    let mut command = Command::new(hurl);
    command.arg("--test").args(variables.iter().flat_map(|variable| ["--variable", *variable])).arg(file("shop.hurl"));
    let output = command.output().expect("hurl starts");
    let log = served.stop();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    check_log(&log, 1);
}

fn as_a_load(modules: &Path) {
    let (dir, served) = start(modules);
    let flow = file("shop.hurl").display().to_string();
    let host = format!("host={}", served.origin("http"));
    let mut arguments = vec!["run", "--flow", &flow, "--variable", &host, "--data-from", "users.csv"];
    arguments.extend(["-r", "20", "-d", "2s", "--no-preflight", "--json", "--quiet", "--no-save"]);
    let output = dir.truetail(&arguments);
    let run = output.json();
    let log = served.stop();
    assert_balanced(&run);
    let sessions = &run["sessions"];
    assert_eq!(sessions["tally"]["completed"], SESSIONS, "{sessions} {}", run["notes"]);
    for ((name, ..), step) in STEPS.iter().zip(sessions["steps"].as_array().expect("steps")) {
        assert_eq!((&step["name"], &step["reached"]), (&(*name).into(), &SESSIONS.into()));
    }
    check_log(&log, SESSIONS);
}

/// Starts the shop in a temporary folder.
fn start(modules: &Path) -> (TestDir, ServerProcess) {
    let dir = TestDir::new();
    for source in SOURCES {
        dir.file(source, &std::fs::read_to_string(file(source)).expect("a source of the shop"));
    }
    symlink(modules, dir.path().join("node_modules")).expect("a link");
    let mut command = Command::new(node(modules));
    command.arg(dir.path().join("serve.mjs")).arg(dir.path());
    let served = ServerProcess::start(command, &dir);
    (dir, served)
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/apps/shop").join(name)
}

/// Checks that each session requested each step, and nothing else was requested.
fn check_log(log: &[Logged], sessions: usize) {
    for (name, method, path, status) in STEPS {
        let is_it = |line: &&Logged| line.method == method && line.path == path && line.status == status;
        assert_eq!(log.iter().filter(is_it).count(), sessions, "{name}");
    }
    assert_eq!(log.len(), STEPS.len() * sessions);
}
