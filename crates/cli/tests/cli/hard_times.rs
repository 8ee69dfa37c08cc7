//! Failures during a run, on either side. They change numbers and verdicts, and nothing else.

use super::raw_server::ClosedPort;
use super::support::{ServeProcess, TestDir, TestProcess, assert_balanced, assert_complete};

#[test]
fn a_server_that_is_killed_changes_outcomes_only() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let arguments = ["run", &served.api(), "-r", "500", "-d", "2500ms", "--json", "--out", "here"];
    let mut running = TestProcess::start(dir.command(&arguments));
    running.wait_for_stderr("in flight");
    let port = served.port();
    // Dropping the server kills it. Its port must not be reused by another test's server.
    drop(served);
    let _refusing = ClosedPort::take(port);
    let output = running.end();
    let run = output.json();
    output.assert_code(&run, 0);
    assert_balanced(&run);
    assert_eq!(assert_complete(&dir.path().join("here")), run);
    let of = |name: &str| run["tally"][name].as_u64().expect("a count");
    assert_eq!((of("planned"), of("never_issued")), (1250, 0));
    assert!(of("responses") > 0 && of("connect_failed") > 0, "{}", run["tally"]);
    assert_eq!(of("responses") + of("connect_failed") + of("reset") + of("malformed"), 1250, "{}", run["tally"]);
    let p99 = &run["response_time"]["quantiles"].as_array().expect("quantiles")[3];
    assert_eq!(
        (p99["q"].as_f64(), p99["no_answer"].as_bool()),
        (Some(0.99), Some(true)),
        "refusals are no fast answers"
    );
}

const EVERY_FIFTIETH_IS_LOST: &str = "name = \"holes\"\nabout = \"2 % are never answered\"\n[workload]\nrate = 400\n\
    duration = \"3s\"\n[service]\nbaseline = \"5ms\"\n[[service.fault]]\nkind = \"black-hole\"\nevery = 50\n";

#[test]
fn what_is_never_answered_is_at_least_the_timeout() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, dir.file("holes.toml", EVERY_FIFTIETH_IS_LOST));
    let output = dir.truetail(&["run", &served.api(), "-r", "400", "-d", "3s", "--timeout", "2s", "--out", "here"]);
    let line = |name: &str| {
        let found = output.stdout.lines().find(|line| line.trim_start().starts_with(name));
        found.unwrap_or_else(|| panic!("no {name} in {output:?}")).to_owned()
    };
    assert!(line("p99 ").contains("≥2.0"), "{}", line("p99 "));
    assert!(!line("p95 ").contains('≥') && line("p95 ").contains("ms"), "{}", line("p95 "));
    let run = assert_complete(&dir.path().join("here"));
    assert_eq!((&run["tally"]["timed_out"], &run["tally"]["responses"]), (&24.into(), &1176.into()));
}
