//! Habits from curl, hyperfine and git: short values, `--data` means POST, `help VERB`, `--out` keeps old runs.

use std::fs;

use super::raw_server::RawServer;
use super::support::{ServeProcess, TestDir, assert_complete};

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// A load of one request, without preflight.
const ONE: [&str; 8] = ["-r", "1", "-n", "1", "--no-preflight", "--quiet", "--json", "--no-save"];

/// Returns the request that `truetail run URL ARGUMENTS` sends.
fn request_of(arguments: &[&str]) -> String {
    let server = RawServer::start_whole(ANSWER);
    let dir = TestDir::new();
    dir.file("body", "x=1");
    let output = dir.truetail(&[&["run", &server.url], &ONE[..], arguments].concat());
    assert_eq!((output.stderr.as_str(), &output.json()["tally"]["responses"]), ("", &1.into()), "{arguments:?}");
    server.asked.recv().expect("a request")
}

#[test]
fn short_values_mean_the_same_as_long_ones() {
    let server = RawServer::start_whole(ANSWER);
    let dir = TestDir::new();
    let hash = |load: &[&str]| {
        let output = dir.truetail(
            &[&["run", &server.url, "--json", "--quiet", "--no-save", "--no-preflight", "-n", "5"], load].concat(),
        );
        let run = output.json();
        (run["schedule_hash"].clone(), run["scenario"].clone())
    };
    let long = hash(&["-r", "100", "-d", "90s", "--timeout", "2500ms"]);
    for load in [
        ["-r", "0.1k", "-d", "1m30s", "--timeout", "2s500ms"],
        ["-r", "100rps", "-d", "1.5m", "--max-time", "2.5"],
        ["-r", "6k/m", "-d", "0h1m30s", "--max-time", "2.5s"],
    ] {
        assert_eq!(hash(&load), long, "{load:?}");
    }
}

#[test]
fn a_body_implies_post_and_a_method_still_counts() {
    for (arguments, start) in [
        (&["--data", "x=1"][..], "POST "),
        (&["--data-file", "body"], "POST "),
        (&["--data", "x=1", "-X", "PUT"], "PUT "),
        (&["--data", "x=1", "--method", "GET"], "GET "),
        (&[], "GET "),
    ] {
        let request = request_of(arguments);
        assert!(request.starts_with(start), "{arguments:?}: {request}");
        assert_eq!(request.ends_with("\r\n\r\nx=1"), !arguments.is_empty(), "{request}");
    }
}

#[test]
fn a_run_is_reported_and_merged_by_its_file_too() {
    let dir = TestDir::new();
    assert_eq!(dir.truetail(&["simulate", "01", "--out", "a"]).code, Some(0));
    let by_folder = dir.truetail(&["report", "a"]);
    assert_eq!(by_folder.code, Some(0), "{by_folder:?}");
    assert_eq!(dir.truetail(&["report", "a/run.json"]).stdout, by_folder.stdout);
    let merged = dir.truetail(&["merge", "a/run.json", "--out", "b"]);
    assert_eq!(merged.code, Some(0), "{merged:?}");
    assert_eq!(dir.truetail(&["report", "missing/run.json"]).code, Some(1));
}

#[test]
fn out_replaces_a_run_only_when_told_to() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    assert_eq!(dir.truetail(&["simulate", "01", "--out", "there"]).code, Some(0));
    let before = fs::read(dir.path().join("there/run.json")).expect("a run");
    let run = ["run", &served.api(), "-r", "100", "-n", "5", "--quiet", "--out", "there"];
    for arguments in [&run[..], &["simulate", "02", "--out", "there"], &["merge", "there", "--out", "there/../there"]] {
        let output = dir.truetail(arguments);
        assert!(matches!(output.code, Some(1 | 2)), "{arguments:?}: {output:?}");
        assert_eq!((output.stdout.as_str(), output.stderr.lines().count()), ("", 1), "{output:?}");
        assert_eq!(fs::read(dir.path().join("there/run.json")).expect("a run"), before, "{arguments:?}");
    }
    let refused = dir.truetail(&run);
    assert!(refused.stderr.contains("there already holds a run; add --force"), "{refused:?}");
    let replaced = dir.truetail(&[&run[..], &["--force"]].concat());
    let there = assert_complete(&dir.path().join("there"));
    replaced.assert_code(&there, 0);
    assert_eq!(there["tally"]["planned"], 5);
    let (_, requests) = served.stop();
    assert_eq!(requests.len(), 5, "a refused run sends nothing");
}

#[test]
fn help_is_a_verb_and_every_verb_has_a_man_page() {
    let dir = TestDir::new();
    for verb in ["run", "certify", "merge"] {
        let help = dir.truetail(&["help", verb]);
        let flag = dir.truetail(&[verb, "--help"]);
        assert_eq!((help.code, help.stdout), (Some(0), flag.stdout), "{verb}");
    }
    assert_eq!(dir.truetail(&["help"]).stdout, dir.truetail(&["--help"]).stdout);
    assert_eq!(dir.truetail(&["help", "nonsense"]).code, Some(2));
    let output = dir.truetail(&["man", "--out", "new/man1"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    for page in ["truetail.1", "truetail-run.1", "truetail-lab-run.1", "truetail-completions.1"] {
        let text = fs::read_to_string(dir.path().join("new/man1").join(page)).expect(page);
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
    let run = fs::read_to_string(dir.path().join("new/man1/truetail-run.1")).expect("a page");
    assert!(run.contains("max\\-time"), "{run}");
    dir.file("taken", "");
    let refused = dir.truetail(&["man", "--out", "taken"]);
    assert_eq!((refused.code, refused.stderr.lines().count()), (Some(1), 1), "{refused:?}");
}

#[test]
fn completions_know_verbs_and_options() {
    let dir = TestDir::new();
    for (shell, parts) in [
        ("bash", ["complete -F", "certify", "--fail-if"]),
        ("zsh", ["#compdef truetail", "certify", "--fail-if"]),
        ("fish", ["complete -c truetail", "certify", "fail-if"]),
    ] {
        let output = dir.truetail(&["completions", shell]);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        assert!(parts.iter().all(|part| output.stdout.contains(part)), "{shell}");
    }
    assert_eq!(dir.truetail(&["completions", "csh"]).code, Some(2));
}
