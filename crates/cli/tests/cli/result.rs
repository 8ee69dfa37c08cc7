//! Results: printed, saved, and read again.

use std::net::TcpListener;

use super::support::{ServeProcess, TestDir, TestProcess, assert_balanced, assert_complete};

#[test]
fn a_run_is_saved_printed_and_printed_again() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let output = dir.truetail(&["run", &served.api(), "-r", "200", "-n", "100"]);
    let runs = dir.runs();
    assert_eq!(runs.len(), 1, "{output:?}");
    let saved = assert_complete(&runs[0]);
    output.assert_code(&saved, 0);
    assert_balanced(&saved);
    let name = runs[0].file_name().expect("a name").to_string_lossy().into_owned();
    assert!(name.contains("-127.0.0.1-") && output.stdout.contains(&name), "{output:?}");
    assert!(output.stdout.contains("p99") && output.stdout.contains("answers to 100 requests"), "{output:?}");
    assert!(!output.stdout.contains('\x1b') && !output.stderr.contains('\x1b'), "no colours into a pipe");
    let folder = format!("truetail-runs/{name}");
    let again = dir.truetail(&["report", &folder]);
    again.assert_code(&saved, 0);
    assert_eq!(again.stdout, output.stdout);
    let json = dir.truetail(&["report", "--json", &folder]).json();
    assert_eq!(json, saved);
}

#[test]
fn json_is_all_there_is_on_standard_output() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let output = dir.truetail(&["run", &served.api(), "-r", "100", "-n", "120", "--json", "--out", "here"]);
    assert_eq!(output.json(), assert_complete(&dir.path().join("here")));
    assert!(output.stderr.contains("p99"), "a run of more than a second tells its progress: {output:?}");
}

#[test]
fn quiet_is_quiet() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let output = dir.truetail(&["run", &served.api(), "-r", "100", "-n", "120", "--quiet", "--no-save"]);
    assert_eq!(output.stderr, "");
    assert!(output.stdout.contains("answers to 120 requests"), "{output:?}");
}

#[test]
fn runs_merge_without_loss() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    for (seed, out) in [("1", "a"), ("2", "b")] {
        let arguments = ["run", &served.api(), "-r", "200", "-n", "50", "--spacing", "poisson", "--quiet"];
        dir.truetail(&[&arguments[..], &["--seed", seed, "--out", out]].concat());
    }
    let output = dir.truetail(&["merge", "a", "b", "--out", "whole"]);
    let whole = assert_complete(&dir.path().join("whole"));
    output.assert_code(&whole, 0);
    assert_eq!((whole["tally"]["planned"].as_u64(), whole["statuses"]["200"].as_u64()), (Some(100), Some(100)));
    assert_balanced(&whole);
    let twice = dir.truetail(&["merge", "a", "a", "--out", "twice"]);
    assert_eq!((twice.code, twice.stderr.lines().count()), (Some(1), 1), "{twice:?}");
    assert!(!dir.path().join("twice").exists());
    let a = assert_complete(&dir.path().join("a"));
    let over = dir.truetail(&["merge", "a", "b", "--out", "b/../a"]);
    assert_eq!((over.code, over.stderr.lines().count()), (Some(2), 1), "{over:?}");
    assert!(over.stderr.contains("--out b/../a is a, which is one of the runs"), "{over:?}");
    assert_eq!(assert_complete(&dir.path().join("a")), a, "nothing was overwritten");
}

/// Nothing was planned, so nothing can be said.
#[test]
fn an_invalid_run_is_invalid_again_when_it_is_printed_or_merged() {
    let dir = TestDir::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    for seed in ["1", "2"] {
        let load = ["-r", "1/h", "-d", "100ms", "--spacing", "poisson", "--seed", seed];
        let output = dir.truetail(&[&["run", &url, "--no-preflight", "--quiet", "--out", seed], &load[..]].concat());
        assert_eq!(output.code, Some(4), "{output:?}");
    }
    let again = dir.truetail(&["report", "1"]);
    assert_eq!(again.code, Some(4), "{again:?}");
    let whole = dir.truetail(&["merge", "1", "2", "--out", "whole"]);
    assert_eq!(whole.code, Some(4), "{whole:?}");
    assert_eq!(assert_complete(&dir.path().join("whole"))["verdict"]["state"], "INVALID");
}

#[test]
fn a_reader_that_leaves_is_no_error_and_the_run_is_saved() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let arguments = ["run", &served.api(), "-r", "200", "-n", "50", "--quiet", "--out", "here"];
    let output = TestProcess::start_without_reader(dir.command(&arguments)).end();
    let run = assert_complete(&dir.path().join("here"));
    output.assert_code(&run, 0);
    assert_eq!(output.stderr, "");
}

#[test]
fn no_color_and_ascii_are_obeyed_in_pipes_too() {
    let dir = TestDir::new();
    let mut command = dir.command(&["simulate", "02"]);
    command.env("LC_ALL", "C.ISO-8859-1").env("NO_COLOR", "1");
    let output = TestProcess::start(command).end();
    assert_eq!(output.code, Some(0));
    assert!(output.stdout.is_ascii(), "{}", output.stdout);
}
