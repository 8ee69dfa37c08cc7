//! `truetail run --all` and several names: runs of truetail.toml in turn.

use std::fs;

use nix::sys::signal::Signal;

use super::raw_server::ClosedPort;
use super::support::{CommandOutput, ServeProcess, TestDir, TestProcess, assert_complete};

/// Prepares three short runs in a fixed order. Each has a gate that is decided even if a busy machine makes it INVALID.
fn stage(more: &str) -> (TestDir, ServeProcess) {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    let run = |name: &str, rate: u32, slo: &str| {
        format!("[run.{name}]\nurl = \"{}\"\nrate = {rate}\nslo = \"{slo}\"\n", server.api())
    };
    let runs = [run("zebra", 200, "max < 1000s"), run("api", 150, "error-rate < 50%"), run("late", 100, "max < 1000s")];
    dir.file("truetail.toml", &format!("[shared]\nduration = \"300ms\"\nquiet = true\n\n{}{more}", runs.concat()));
    (dir, server)
}

/// Returns the first two words of each line of the table.
fn table(output: &CommandOutput) -> Vec<(String, String)> {
    let at = output.stdout.rfind("\nrun ").expect("a table");
    let words = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some((words.next()?, words.next()?))
    };
    output.stdout[at + 1..].lines().skip(1).filter_map(words).collect()
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(name, word)| ((*name).to_owned(), (*word).to_owned())).collect()
}

#[test]
fn all_runs_are_made_in_file_order_and_reported_together() {
    let (dir, _server) = stage("");
    let files = ["--junit", "all.xml", "--markdown", "all.md", "--out", "kept"];
    let output = dir.truetail(&[&["run", "--all"], &files[..]].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(table(&output), pairs(&[("zebra", "PASSED"), ("api", "PASSED"), ("late", "PASSED")]), "{output:?}");
    for (nth, name) in ["zebra", "api", "late"].into_iter().enumerate() {
        assert!(output.stdout.contains(&format!("Run {} of 3: {name}\n", nth + 1)), "{output:?}");
        assert_complete(&dir.path().join("kept").join(name));
    }
    assert_eq!(output.stdout.matches("  Measurement  ").count(), 3, "one screen each");
    let text = |name: &str| fs::read_to_string(dir.path().join(name)).expect("a file");
    let suites: Vec<_> = text("all.xml").match_indices("<testsuite name=\"").map(|(at, _)| at).collect();
    let names = suites.iter().map(|at| text("all.xml")[at + 17..].split('"').next().expect("a name").to_owned());
    assert_eq!(names.collect::<Vec<_>>(), ["zebra", "api", "late"]);
    let headings: Vec<_> = text("all.md").lines().filter(|line| line.starts_with("# ")).map(str::to_owned).collect();
    assert_eq!(headings, ["# zebra", "# api", "# late"]);
}

#[test]
fn named_runs_are_made_in_that_order_with_the_worst_code() {
    let (dir, _server) = stage("");
    let gate = ["--fail-if", "throughput < 1000000/s"];
    let output = dir.truetail(&[&["run", "late", "zebra", "--no-save"], &gate[..]].concat());
    assert_eq!(
        (output.code, table(&output)),
        (Some(3), pairs(&[("late", "FAILED"), ("zebra", "FAILED")])),
        "{output:?}"
    );
    let json = dir.truetail(&["run", "late", "zebra", "--no-save", "--json"]);
    let runs = json.json();
    assert_eq!((json.code, runs["schema"].as_str()), (Some(0), Some("truetail.runs/1")), "{json:?}");
    assert_eq!((&runs["exit_code"], runs["runs"].as_array().map(Vec::len)), (&0.into(), Some(2)));
    assert_eq!((&runs["runs"][0]["name"], &runs["runs"][0]["run"]["tally"]["planned"]), (&"late".into(), &30.into()));
}

/// Only the run against the unreachable server has no result.
#[test]
fn a_run_that_cannot_be_made_does_not_keep_the_others() {
    let closed = ClosedPort::take(0);
    let nobody = format!("[run.gone]\nurl = \"{}\"\nrate = 10\n\n[run.again]\nurl = \"", closed.url());
    let (dir, server) = stage(&nobody);
    let toml = fs::read_to_string(dir.path().join("truetail.toml")).expect("a file");
    dir.file("truetail.toml", &format!("{toml}{}\"\nrate = 100\n", server.api()));
    let output = dir.truetail(&["run", "gone", "late", "--no-save", "--junit", "all.xml"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert_eq!(table(&output), pairs(&[("gone", "no"), ("late", "PASSED")]), "{output:?}");
    assert!(output.stderr.contains("gone: ") && output.stderr.contains("connection refused"), "{output:?}");
    let junit = fs::read_to_string(dir.path().join("all.xml")).expect("a file");
    assert!(junit.contains("type=\"not measured\"") && junit.contains("errors=\"1\""), "{junit}");
}

#[test]
fn each_run_is_set_against_its_own_baseline() {
    let (dir, _server) = stage("");
    let toml = fs::read_to_string(dir.path().join("truetail.toml")).expect("a file");
    dir.file("truetail.toml", &format!("{}\n", toml.replace("rate = 200\n", "rate = 200\nbaseline = \"old\"\n")));
    let first = dir.truetail(&["run", "zebra", "--quiet", "--out", "old", "--allow-errors"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let output = dir.truetail(&["run", "zebra", "late", "--no-save"]);
    let lines: Vec<_> = output.stdout.lines().filter(|line| line.contains("PASSED 1 gate")).collect();
    assert_eq!(lines.len(), 2, "{output:?}");
    assert!(!lines[0].contains("no baseline") && lines[1].contains("no baseline"), "{lines:?}");
}

#[test]
fn ctrl_c_in_one_run_leaves_the_next_out() {
    let (dir, _server) = stage("");
    let toml = fs::read_to_string(dir.path().join("truetail.toml")).expect("a file");
    dir.file("truetail.toml", &toml.replace("quiet = true", "quiet = false").replace("300ms", "10m"));
    let mut running =
        TestProcess::start(dir.command_by(&["env", "--default-signal=INT"], &["run", "--all", "--out", "kept"]));
    running.wait_for_stderr("in flight");
    running.signal(Signal::SIGINT);
    let output = running.end();
    assert_eq!(output.code, Some(130), "{output:?}");
    assert!(output.stderr.contains("2 runs were not made"), "{output:?}");
    let made: Vec<_> = table(&output).into_iter().map(|(_, word)| word).collect();
    assert_eq!(made[1..], ["not", "not"], "{output:?}");
    assert_complete(&dir.path().join("kept/zebra"));
    assert!(!dir.path().join("kept/api").exists());
}

#[test]
fn what_is_wrong_with_one_of_them_is_said_before_the_first() {
    let (dir, _server) = stage("[run.wrong]\nurl = \"http://127.0.0.1:9/\"\nrate = 1\nslo = \"p99.9 < 1s\"\n");
    for (arguments, part) in [
        (&["--all"][..], "[run.wrong]: --slo 'p99.9 < 1s' cannot be decided"),
        (&["api", "aip"], "there is no run 'aip'; did you mean 'api'?"),
        (&["api", "http://127.0.0.1:9/"], "'http://127.0.0.1:9/' is not the name of a run"),
        (&["http://me:secret@127.0.0.1:9/", "api"], "is not the name of a run"),
        (&["api", "api"], "'api' is named twice"),
        (&["api", "--all"], "leave out the names"),
        (&["api", "late", "--html", "page.html"], "both have html"),
        (&["api", "late", "--stripe", "1/2"], "for one run"),
        (&["api", "late", "--data-file", "-"], "standard input"),
        (&["api", "late", "--junit", "none/x.xml"], "there is no folder none"),
    ] {
        let output = dir.truetail(&[&["run"], arguments].concat());
        assert_eq!(
            (output.code, output.stderr.lines().count(), output.stdout.as_str()),
            (Some(2), 1, ""),
            "{output:?}"
        );
        assert!(output.stderr.contains(part) && !output.stderr.contains("secret"), "{output:?}");
        assert!(dir.runs().is_empty(), "{arguments:?}");
    }
}
