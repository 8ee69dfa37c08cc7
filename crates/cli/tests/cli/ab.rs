//! `truetail ab`: two servers in turns.

use nix::sys::signal::Signal;
use serde_json::Value;

use super::raw_server::ClosedPort;
use super::support::{ServeProcess, TestDir, TestProcess, assert_complete};

/// Starts two servers. Returns their folders first; the test runs in the first folder.
fn servers() -> (TestDir, TestDir, ServeProcess, ServeProcess) {
    let dir = TestDir::new();
    let other = TestDir::new();
    let a = ServeProcess::start(&dir, "01");
    let b = ServeProcess::start(&other, "01");
    (dir, other, a, b)
}

fn started(dir: &TestDir, name: &str) -> u64 {
    assert_complete(&dir.path().join("out").join(name))["started_at_unix_ns"].as_u64().expect("a time")
}

/// Returns the exit code that the conditions determine. With `--anyway`, `comparable` does not matter: on a machine
/// that stalls, a run may be INVALID.
fn code_of(json: &Value) -> i32 {
    let states: Vec<_> = json["gates"].as_array().expect("gates").iter().map(|gate| &gate["state"]).collect();
    match () {
        () if states.iter().any(|state| *state == "fails") => 3,
        () if json["quantiles"] == serde_json::json!([]) || states.iter().any(|state| *state == "open") => 4,
        () => 0,
    }
}

#[test]
fn sides_run_in_turns_and_each_run_is_kept() {
    let (dir, _other, a, b) = servers();
    let load = ["-r", "200", "-d", "300ms", "--rounds", "2", "--out", "out", "--anyway", "--json", "--html", "ab.html"];
    let output = dir.truetail(&[&["ab", &a.api(), &b.api()], &load[..]].concat());
    let json = output.json();
    assert_eq!(output.code, Some(code_of(&json)), "{output:?}");
    assert_eq!((json["runs"]["a"].as_u64(), json["runs"]["b"].as_u64()), (Some(2), Some(2)), "{json}");
    let rounds = &json["rounds"];
    assert_eq!((rounds["done"].as_u64(), rounds["ended"].as_str()), (Some(2), Some("all_done")), "{json}");
    assert_eq!(rounds["folder"], "out");
    let page = std::fs::read_to_string(dir.path().join("ab.html")).expect("a page");
    assert!(page.contains("href=\"./out/round-2-b/report.html\"") && page.contains("Rounds: 2 rounds"));
    let times = ["round-1-a", "round-1-b", "round-2-b", "round-2-a"].map(|name| started(&dir, name));
    assert!(times.is_sorted(), "A B B A: {times:?}");
    let run = |name: &str| assert_complete(&dir.path().join("out").join(name));
    let one = run("round-1-a");
    let other = run("round-1-b");
    let next = run("round-2-a");
    assert_eq!(one["schedule_hash"], other["schedule_hash"], "sides share the schedule of a round");
    let command = |run: &Value| run["command"].as_str().expect("a command").to_owned();
    assert!(command(&one).starts_with(&format!("truetail run {} ", a.api())), "{}", command(&one));
    assert!(command(&next).contains("--seed 2"), "{}", command(&next));
    let again = dir.truetail(&[&["ab", &a.api(), &b.api()], &load[..]].concat());
    assert_eq!(
        (again.code, again.stdout.as_str()),
        (Some(1), ""),
        "what is there is not mixed with new runs: {again:?}"
    );
}

#[test]
fn it_ends_when_all_is_decided() {
    let (dir, _other, a, b) = servers();
    let options = ["-r", "200", "-d", "300ms", "--until-decided", "--max-rounds", "5", "--quiet", "--anyway"];
    let gate = ["--fail-if", "p50 worse than 400%", "--json", "--append", "history.csv"];
    let output = dir.truetail(&[&["ab", &a.api(), &b.api()], &options[..], &gate[..]].concat());
    let json = output.json();
    assert_eq!(output.code, Some(code_of(&json)), "{output:?}");
    let rounds = json["rounds"]["done"].as_u64().expect("a number");
    let ended = json["rounds"]["ended"].as_str().expect("a word");
    assert!((rounds == 3 && ended == "decided") || (rounds == 5 && ended == "all_done"), "{json}");
    assert_eq!(json["confidence"], 0.975, "two looks are paid for");
    let history = std::fs::read_to_string(dir.path().join("history.csv")).expect("a history");
    assert_eq!(history.lines().count() as u64, 1 + 2 * rounds, "{history}");
    assert_eq!(dir.runs().len(), 1, "one folder holds all runs");
}

#[test]
fn ctrl_c_keeps_what_is_there() {
    let (dir, _other, a, b) = servers();
    let options = ["-r", "100", "-d", "600ms", "--rounds", "50", "--out", "out", "--anyway"];
    let mut running = TestProcess::start(dir.command(&[&["ab", &a.api(), &b.api()], &options[..]].concat()));
    running.wait_for_stderr("round-2-b");
    running.signal(Signal::SIGINT);
    let output = running.end();
    assert_eq!(output.code, Some(130), "{output:?}");
    assert!(output.stdout.contains("of 50 rounds, then interrupted; runs in out"), "{output:?}");
    assert!(
        output.stdout.contains("The intervals include") || output.stdout.contains("One run on each side"),
        "{output:?}"
    );
    started(&dir, "round-1-a");
    started(&dir, "round-1-b");
}

#[test]
fn a_server_that_is_not_there_is_missed_before_anything_runs() {
    let (dir, _other, a, _b) = servers();
    let gone = ClosedPort::take(0);
    let options = ["-r", "100", "-d", "200ms", "--quiet", "--out", "out", "--anyway"];
    for sides in [[a.api(), gone.url()], [gone.url(), a.api()]] {
        let output =
            dir.truetail(&[&["ab", &sides[0], &sides[1]], &options[..], &["--append", "history.csv"]].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
        assert!(output.stderr.contains("is the server running?"), "{output:?}");
        assert!(!dir.path().join("out").exists() && !dir.path().join("history.csv").exists(), "{output:?}");
    }
}

#[test]
fn without_a_run_nothing_is_compared() {
    let (dir, _other, a, b) = servers();
    let options = ["-r", "100", "-d", "60s", "--out", "out", "--json", "--html", "ab.html", "--append", "history.csv"];
    let mut running = TestProcess::start(dir.command(&[&["ab", &a.api(), &b.api()], &options[..]].concat()));
    running.wait_for_stderr("round-1-a");
    running.signal(Signal::SIGINT);
    let output = running.end();
    assert_eq!(output.code, Some(130), "{output:?}");
    let json = output.json();
    assert_eq!((&json["comparable"], &json["runs"]["a"], &json["runs"]["b"]), (&false.into(), &0.into(), &0.into()));
    assert!(!dir.path().join("ab.html").exists() && !dir.path().join("history.csv").exists());
}

#[test]
fn what_makes_no_sense_is_one_line_and_leaves_nothing() {
    let dir = TestDir::new();
    let url = "http://127.0.0.1:9/";
    for (arguments, part) in [
        (&[url, "-r", "5"][..], "<URL_B>"),
        (&[url, url], "no rate given"),
        (&[url, "nonsense", "-r", "5"], "'nonsense' is not a URL"),
        (&[url, url, "-r", "5", "--until-decided"], "--fail-if"),
        (&[url, url, "-r", "5", "--max-rounds", "7"], "--until-decided"),
        (&[url, url, "-r", "5", "--rounds", "0"], "--rounds"),
        (&[url, url, "-r", "5", "--rounds", "2", "--until-decided", "--fail-if", "p99 worse than 5%"], "--rounds"),
        (&[url, url, "-r", "5", "-n", "20", "--fail-if", "p99 worse than 5%"], "needs 368 measured arrivals"),
        (&[url, url, "-r", "5", "--fail-if", "p99 > 5ms"], "write PERCENTILE worse than SHARE"),
        (&[url, url, "-r", "5", "--watch"], "'--watch'"),
        (&[url, url, "-r", "5", "--data-file", "-"], "--data-file"),
        (&[url, url, "-r", "x"], "--rate"),
        (&[url, url, "-r", "5", "--profile", "ramp:1..2/3s"], "--rate and --profile"),
    ] {
        let output = dir.truetail(&[&["ab"], arguments].concat());
        assert_eq!(
            (output.code, output.stderr.lines().count(), output.stdout.as_str()),
            (Some(2), 1, ""),
            "{output:?}"
        );
        assert!(output.stderr.contains(part), "{arguments:?}: {}", output.stderr);
        assert!(dir.runs().is_empty(), "{arguments:?}");
    }
}
