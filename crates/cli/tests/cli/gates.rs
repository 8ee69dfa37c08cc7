//! Gates, exit codes, and files for build servers. The assertions hold even if the machine stalls for half a second.

use std::net::TcpListener;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::support::{CommandOutput, ServeProcess, TestDir, TestProcess, assert_balanced, assert_complete};

fn run(dir: &TestDir, url: &str, more: &[&str]) -> CommandOutput {
    let arguments = ["run", url, "-r", "400", "--json", "--quiet"];
    dir.truetail(&[&arguments[..], more].concat())
}

/// Returns the URL of a closed port.
fn dead_url() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    format!("http://{}/", listener.local_addr().expect("an address"))
}

fn states(run: &Value) -> Vec<(&str, &str)> {
    let gates = run["gates"].as_array().map_or(&[][..], Vec::as_slice);
    gates.iter().map(|gate| (gate["text"].as_str().expect("text"), gate["state"].as_str().expect("a state"))).collect()
}

#[test]
fn code_0_every_gate_holds() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let gates = ["--fail-if", "p50 > 1h", "--slo", "max < 1h", "--fail-if", "throughput < 1/h"];
    let output = run(&dir, &served.api(), &[&["-n", "100", "--no-save"][..], &gates].concat());
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    let expected = [("max < 1h", "holds"), ("p50 > 1h", "holds"), ("throughput < 1/h", "holds")];
    assert_eq!(states(&output.json()), expected);
    let screen = dir.truetail(&["run", &served.api(), "-r", "400", "-n", "20", "--no-save", "--fail-if", "p50 > 1h"]);
    assert!(screen.stdout.contains("PASSED p50 > 1h: measured "), "a gate is printed when it holds: {screen:?}");
}

/// As a condition of failure (`--fail-if`), `p99 < LIMIT` would pass a service because it is slow.
#[test]
fn a_missed_objective_fails_the_run_and_its_report() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let objectives = ["--slo", "p50 < 1us", "--slo", "error-rate <= 1%", "--slo", "throughput > 1/h"];
    let output = run(&dir, &served.api(), &[&["-n", "100", "--out", "here"][..], &objectives].concat());
    let expected = [("p50 < 1us", "fails"), ("error-rate <= 1%", "holds"), ("throughput > 1/h", "holds")];
    assert_eq!((output.code, states(&output.json())), (Some(3), expected.to_vec()), "{output:?}");
    let report = dir.truetail(&["report", "here"]);
    assert!(report.code == Some(3) && report.stdout.contains("FAILED p50 < 1us: measured "), "{report:?}");
    assert_eq!(dir.truetail(&["report", "here", "--slo", "p50 < 1h"]).code, Some(0));
    assert_eq!(dir.truetail(&["report", "here", "--slo", "ttft < 1h"]).code, Some(2));
}

#[test]
fn code_1_it_could_not_be_done() {
    let dir = TestDir::new();
    let output = run(&dir, &dead_url(), &["-n", "10", "--no-save", "--fail-if", "p50 > 1h"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output:?}");
}

#[test]
fn code_2_an_undecidable_gate_is_refused_before_the_load() {
    let dir = TestDir::new();
    for (arguments, parts) in [
        (["-n", "3000", "--fail-if", "p99.9 > 50ms"], &["needs 3688 measured arrivals", "-n 3688"][..]),
        (["-d", "3s", "--fail-if", "p99.9 > 50ms"], &["this load plans 1200", "-d 10s"]),
        (["-n", "100", "--fail-if", "p50{GET /other} > 50ms"], &["no target 'GET /other'", "'GET /'"]),
        (["-n", "100", "--fail-if", "check-failures > 1%"], &["--check"]),
        (["-n", "100", "--fail-if", "p99"], &["'p99' is not a condition"]),
        (["-n", "3000", "--slo", "p99.9 < 50ms"], &["--slo 'p99.9 < 50ms' cannot be decided", "-n 3688"]),
        (["-n", "9", "--fail-if", "p50 < 1s"], &["--slo 'p50 < 1s'", "--fail-if 'p50 > 1s'"]),
        (["-n", "9", "--fail-if", "throughput > 9/s"], &["--slo 'throughput > 9/s'", "--fail-if 'throughput < 9/s'"]),
        (["-n", "9", "--slo", "error-rate > 1%"], &["--slo 'error-rate < 1%'", "--fail-if 'error-rate > 1%'"]),
        (["-n", "9", "--slo", "median < 1s"], &["'median < 1s' is not a condition"]),
    ] {
        let output = run(&dir, &dead_url(), &arguments);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(parts.iter().all(|part| output.stderr.contains(part)), "{output:?}");
    }
    assert!(dir.runs().is_empty());
}

#[test]
fn code_3_a_gate_failed() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let gates = ["--fail-if", "error-rate >= 0", "--fail-if", "p50 > 1h"];
    let output = run(&dir, &served.api(), &[&["-n", "100", "--no-save"][..], &gates].concat());
    assert_eq!(output.code, Some(3), "{output:?}");
    assert_eq!(states(&output.json()), [("error-rate >= 0", "fails"), ("p50 > 1h", "holds")]);
    assert_eq!(output.stderr, "truetail: FAILED error-rate >= 0: measured 0%\n");
}

#[test]
fn code_3_a_dead_server_fails_its_gates() {
    let dir = TestDir::new();
    let gates = ["--fail-if", "error-rate > 1%", "--fail-if", "p50 > 1h", "--fail-if", "unanswered > 99%"];
    let output = run(&dir, &dead_url(), &[&["-n", "40", "--no-save", "--no-preflight"][..], &gates].concat());
    let result = output.json();
    assert_balanced(&result);
    assert_eq!(output.code, Some(3), "{output:?}");
    assert_eq!(states(&result).iter().map(|(_, state)| *state).collect::<Vec<_>>(), ["fails"; 3], "{output:?}");
}

#[test]
fn code_3_a_failed_check_unless_a_gate_allows_it() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let load = ["-n", "20", "--no-save", "--check", "status == 500"];
    for (gates, code) in [
        (&[][..], 3),
        (&["--fail-if", "check-failures > 100%"], 0),
        (&["--fail-if", "check-failures >= 0"], 3),
        (&["--fail-if", "p50 > 1h"], 3),
    ] {
        let output = run(&dir, &served.api(), &[&load[..], gates].concat());
        assert_eq!(output.code, Some(code), "{gates:?}: {output:?}");
        assert_eq!(output.json()["checks"][0]["failed"].as_u64(), Some(20));
    }
}

#[test]
fn code_4_a_gate_stays_open() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let load = ["--model", "closed", "--users", "1", "-d", "300ms", "--no-save", "--json", "--quiet"];
    let gates = ["--fail-if", "p99.99 > 50ms", "--fail-if", "p50 > 1h"];
    let output = dir.truetail(&[&["run", &served.api()][..], &load, &gates].concat());
    assert_eq!(output.code, Some(4), "{output:?}");
    assert_eq!(states(&output.json())[0], ("p99.99 > 50ms", "open"));
    assert!(output.stderr.contains("OPEN p99.99 > 50ms: this percentile needs 36887 arrivals, not "), "{output:?}");
}

#[test]
fn code_4_a_timeout_leaves_open_what_it_hides() {
    let dir = TestDir::new();
    let fault = "[[service.fault]]\nkind = \"black-hole\"\n";
    let text = format!("[workload]\nrate = 400\nduration = \"1s\"\n[service]\nbaseline = \"1ms\"\n{fault}");
    let served = ServeProcess::start(&dir, dir.file("hole.toml", &text));
    let load = ["-n", "40", "--timeout", "100ms", "--no-preflight", "--no-save"];
    let output = run(&dir, &served.api(), &[&load[..], &["--fail-if", "p50 > 10h"]].concat());
    let result = output.json();
    assert_balanced(&result);
    assert_eq!((output.code, states(&result)), (Some(4), vec![("p50 > 10h", "open")]), "{output:?}");
    let failing =
        run(&dir, &served.api(), &[&load[..], &["--fail-if", "p50 > 10h", "--fail-if", "p50 > 50ms"]].concat());
    assert_eq!(failing.code, Some(3), "it waited for 100 ms: {failing:?}");
}

#[test]
fn code_4_an_invalid_measurement_without_a_gate() {
    let dir = TestDir::new();
    // No arrival falls into 100 ms.
    let load = ["run", &dead_url(), "-r", "1/h", "--spacing", "poisson", "-d", "100ms", "--no-preflight", "--no-save"];
    let output = dir.truetail(&[&load[..], &["--json", "--quiet"]].concat());
    assert_eq!((output.code, output.json()["verdict"]["state"].as_str()), (Some(4), Some("INVALID")), "{output:?}");
}

/// Ends a run with a signal. Returns the exit code and the saved run.
fn ended_by(signal: Signal, gates: &[&str]) -> (Option<i32>, Value) {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let arguments = ["run", &served.api(), "-r", "200", "-d", "10m", "--out", "here"];
    let command = dir.command_by(&["env", "--default-signal=INT,TERM"], &[&arguments[..], gates].concat());
    let mut running = TestProcess::start(command);
    running.wait_for_stderr("in flight");
    running.signal(signal);
    let output = running.end();
    let run = assert_complete(&dir.path().join("here"));
    assert_balanced(&run);
    (output.code, run)
}

#[test]
fn codes_130_and_143_a_run_ended_by_a_signal_is_saved() {
    assert_eq!(ended_by(Signal::SIGINT, &[]).0, Some(130));
    assert_eq!(ended_by(Signal::SIGTERM, &[]).0, Some(143));
    let (code, run) = ended_by(Signal::SIGTERM, &["--fail-if", "p99.99 > 1h"]);
    assert_eq!((code, states(&run)), (Some(143), vec![("p99.99 > 1h", "open")]), "no gate failed");
    let (code, run) = ended_by(Signal::SIGINT, &["--fail-if", "error-rate >= 0"]);
    assert_eq!((code, states(&run)), (Some(3), vec![("error-rate >= 0", "fails")]));
}

#[test]
fn the_gates_of_a_saved_run_are_those_of_the_run() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let gates: Vec<&str> = [
        "p50 > 1h",
        "p97.5 > 1ms",
        "max > 1ms",
        "mean > 1ms",
        "service-time p90 > 1ms",
        "first-byte p50 > 1h",
        "error-rate >= 0",
        "unanswered > 50%",
        "throughput < 1000000/s",
    ]
    .iter()
    .flat_map(|gate| ["--fail-if", gate])
    .collect();
    let output = run(&dir, &served.api(), &[&["-n", "200", "--out", "here"][..], &gates].concat());
    let saved = assert_complete(&dir.path().join("here"));
    assert_eq!((output.json(), output.code), (saved.clone(), Some(3)));
    for arguments in [vec!["report", "here", "--json"], [&["report", "here", "--json"][..], &gates].concat()] {
        let again = dir.truetail(&arguments);
        assert_eq!((again.json(), again.code), (saved.clone(), Some(3)), "{arguments:?}");
    }
    let other = dir.truetail(&["report", "here", "--json", "--fail-if", "p50 > 1h"]);
    assert_eq!((other.code, states(&other.json())), (Some(0), vec![("p50 > 1h", "holds")]), "{other:?}");
    assert_eq!(assert_complete(&dir.path().join("here")), saved, "a report changes nothing");
}

#[test]
fn a_run_of_several_targets_has_times_and_gates_of_each() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let targets = format!("GET {0}/api\n\nPOST {0}/api\n\n# weight: 2\nGET {0}/api?x=1\n\nGET {0}/api\n", served.url);
    dir.file("targets.txt", &targets);
    let load = ["run", "--targets", "targets.txt", "-r", "400", "-n", "200", "--json", "--quiet", "--out", "here"];
    // The median of forty requests is unknown if most of them met the same disturbance, and the maximum is not.
    let gates = ["--fail-if", "max{POST /api} > 1h", "--fail-if", "error-rate{GET /api #2} >= 0"];
    let output = dir.truetail(&[&load[..], &gates].concat());
    let saved = assert_complete(&dir.path().join("here"));
    assert_eq!((output.json(), output.code), (saved.clone(), Some(3)), "{output:?}");
    let of_targets = saved["targets"].as_array().expect("targets");
    let names: Vec<_> = of_targets.iter().map(|target| target["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["GET /api", "POST /api", "GET /api?x=1", "GET /api #2"]);
    let counts = of_targets.iter().map(|target| target["response_time"]["count"].as_u64().expect("a count"));
    assert_eq!(counts.sum::<u64>(), 200);
    for (target, books) in of_targets.iter().zip(saved["by_target"].as_array().expect("books")) {
        assert_eq!(target["tally"], books["tally"]);
        assert!(target["response_time"]["quantiles"][0]["value_ns"].as_u64().expect("p50") >= 10_000_000);
    }
    // A starved generator that offers less load, which makes a run INVALID, leaves the times of the whole load open.
    let is_invalid = saved["verdict"]["state"] == "INVALID";
    let [of_times, of_errors] = states(&saved)[..] else { panic!("{}", saved["gates"]) };
    assert!(of_times.1 == "holds" || is_invalid && of_times.1 == "open", "{of_times:?} {}", saved["verdict"]);
    assert_eq!((of_times.0, of_errors), ("max{POST /api} > 1h", ("error-rate{GET /api #2} >= 0", "fails")));
    assert_eq!(dir.truetail(&["report", "here", "--json"]).json(), saved, "nothing is lost in the folder");
    let whole = dir.truetail(&["merge", "here", "--out", "whole"]);
    assert!(whole.code.is_some_and(|code| [0, 4].contains(&code)), "{whole:?}");
    assert_eq!(assert_complete(&dir.path().join("whole"))["targets"], saved["targets"]);
}

#[test]
fn build_servers_get_their_files() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let gates = ["--fail-if", "error-rate >= 0", "--fail-if", "p50 > 1h"];
    let files = ["--junit", "junit.xml", "--markdown", "run.md", "--github", "--out", "here"];
    let api = served.api();
    let arguments = [&["run", &api, "-r", "400", "-n", "50"][..], &gates, &files].concat();
    let page = dir.path().join("page.md");
    std::fs::write(&page, "another step\n").expect("a page");
    let mut command = dir.command(&arguments);
    command.env("GITHUB_STEP_SUMMARY", &page);
    let output = TestProcess::start(command).end();
    assert_eq!(output.code, Some(3), "{output:?}");
    let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).expect(name);
    assert!(text("junit.xml").contains("<failure message=\"measured 0%\""), "{}", text("junit.xml"));
    assert!(text("run.md").contains("| ❌ FAILED | error-rate >= 0 | measured 0% |"), "{}", text("run.md"));
    assert_eq!(text("page.md"), format!("another step\n{}\n", text("run.md")));
    let again = dir.truetail(&["report", "here", "--junit", "again.xml", "--markdown", "again.md"]);
    assert_eq!((again.code, text("again.xml"), text("again.md")), (Some(3), text("junit.xml"), text("run.md")));
}

#[test]
fn files_without_a_place_are_refused_before_the_load() {
    let dir = TestDir::new();
    for (arguments, parts) in [
        (vec!["--junit", "none/junit.xml"], ["--junit", "no folder none"]),
        (vec!["--markdown", "."], ["--markdown", "is a folder"]),
        (vec!["--github"], ["--github", "GITHUB_STEP_SUMMARY"]),
    ] {
        let url = dead_url();
        let mut command = dir.command(&[&["run", &url, "-r", "10"][..], &arguments].concat());
        command.env_remove("GITHUB_STEP_SUMMARY");
        let output = TestProcess::start(command).end();
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(parts.iter().all(|part| output.stderr.contains(part)), "{output:?}");
    }
}
