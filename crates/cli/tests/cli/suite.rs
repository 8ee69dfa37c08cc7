//! `truetail certify --suite`: truetail itself, a closed loop, and a tool that makes its figures up.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::support::TestDir;

fn row<'a>(suite: &'a Value, name: &str) -> &'a Value {
    let rows = suite["situations"].as_array().expect("situations");
    rows.iter().find(|row| row["situation"] == name).unwrap_or_else(|| panic!("no {name} in {suite}"))
}

fn total(suite: &Value) -> u64 {
    ["passed", "failed", "cannot_tell", "not_tested"].iter().map(|name| suite[name].as_u64().expect("a count")).sum()
}

/// Counts are exact on any machine. A time may be off on a busy one, but by far less than the nine tenths that a closed
/// loop misses.
#[test]
fn truetail_goes_through_a_shortened_suite() {
    let dir = TestDir::new();
    let words = ["certify", "--suite", "--duration", "2s", "--json", "--quiet", "--html", "s.html", "--badge", "s.svg"];
    let output = dir.truetail(&words);
    let suite = output.json();
    assert_eq!((&suite["schema"], &suite["tool"]), (&"truetail.suite/1".into(), &"truetail".into()), "{suite}");
    assert_eq!((suite["situations"].as_array().map(Vec::len), total(&suite)), (Some(12), 12), "{suite}");
    for name in ["refused", "resets", "timeouts", "fast-errors"] {
        assert_eq!(row(&suite, name)["state"], "pass", "{}", row(&suite, name));
    }
    for name in ["stall", "pauses", "saturation"] {
        let error = row(&suite, name)["error_pct"].as_f64();
        assert!(error.is_some_and(|error| error > -50.0), "{}", row(&suite, name));
    }
    for row in suite["situations"].as_array().expect("situations") {
        let is_told =
            ["tests", "source", "found"].iter().all(|key| row[key].as_str().is_some_and(|text| !text.is_empty()));
        assert!(is_told && row["command"].is_array(), "{row}");
    }
    let expected = match (suite["failed"].as_u64(), suite["cannot_tell"].as_u64()) {
        (Some(0), Some(0)) => 0,
        (Some(0), _) => 4,
        _ => 3,
    };
    assert_eq!(output.code, Some(expected), "{output:?}");
    let page = std::fs::read_to_string(dir.path().join("s.html")).expect("a page");
    assert!(page.contains("fast-errors") && page.contains("The sentences tested") && !page.contains("src=\"http"));
    let badge = std::fs::read_to_string(dir.path().join("s.svg")).expect("a badge");
    assert!(badge.starts_with("<svg ") && badge.contains("truetail: true tail"), "{badge}");
}

#[test]
fn a_closed_loop_fails_where_it_stops_sending() {
    let dir = TestDir::new();
    dir.file("closed.toml", "tool = \"truetail-closed\"\nname = \"closed <loop>\"\n");
    let words =
        ["certify", "--suite", "--adapter", "closed.toml", "--situations", "stall,low-rate", "--duration", "3s"];
    let output = dir.truetail(&[&words[..], &["--quiet", "--badge", "c.svg"]].concat());
    assert_eq!(output.code, Some(3), "{output:?}");
    let version = env!("CARGO_PKG_VERSION");
    assert!(output.stdout.starts_with(&format!("closed <loop> {version}: 0 of 2 situations passed\n")), "{output:?}");
    assert!(output.stdout.contains("requests that were due while it stood still"), "{output:?}");
    let badge = std::fs::read_to_string(dir.path().join("c.svg")).expect("a badge");
    assert!(badge.contains("closed &lt;loop&gt;") && badge.contains("0/2"), "{badge}");
}

/// It asks the server nothing, and prints good figures.
#[test]
fn made_up_figures_fail_with_an_adapter_that_finds_them() {
    let dir = TestDir::new();
    let script = "#!/bin/sh\necho '{\"p50\": 10, \"p99\": 12, \"failed\": 0}' >report.json\n";
    dir.file("gun", script);
    std::fs::set_permissions(dir.path().join("gun"), std::fs::Permissions::from_mode(0o755)).expect("an executable");
    let adapter = "command = [\"./gun\", \"{url}\"]\n[figures]\nfile = \"report.json\"\np50 = \"/p50\"\np99 = \"/p99\"\nfailed = \"/failed\"\n";
    dir.file("gun.toml", adapter);
    let words = [
        "certify",
        "--suite",
        "--adapter",
        "gun.toml",
        "--situations",
        "stall,refused,http2,stream",
        "--quiet",
        "--json",
    ];
    let output = dir.truetail(&words);
    let suite = output.json();
    let state = |name: &str| row(&suite, name)["state"].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        ["stall", "refused", "http2", "stream"].map(state),
        ["fail", "fail", "not_tested", "not_tested"],
        "{suite}"
    );
    assert_eq!((output.code, suite["tool"].as_str()), (Some(3), Some("gun")), "{suite}");
    assert!(dir.path().join("truetail-lab/suite/gun/stall/files/report.json").is_file());
    let untested = ["certify", "--suite", "--adapter", "gun.toml", "--situations", "http2,stream", "--quiet"];
    assert_eq!(dir.truetail(&untested).code, Some(4));
}

#[test]
fn what_cannot_be_a_suite_is_refused_in_one_line() {
    let dir = TestDir::new();
    dir.file("bad.toml", "tool = \"ab\"\nspeed = 1\n");
    for (words, part) in [
        (&["--adapter", "bad.toml"][..], "bad.toml:2:1"),
        (&["--adapter", "none.toml"], "none.toml"),
        (&["--adapter", "bad.toml", "--", "ab", "{url}"], "--adapter"),
        (&["--situations", "stalls"], "slow-ramp"),
        (&["--duration", "1s"], "--suite: in less than 2s"),
        (&["--llm"], "--llm"),
        (&["--", "ab"], "{url}"),
        (&["--", "no-such-program", "{url}"], "no-such-program"),
    ] {
        let output = dir.truetail(&[&["certify", "--suite"], words].concat());
        assert!(matches!(output.code, Some(1 | 2)) && output.stdout.is_empty(), "{words:?}: {output:?}");
        assert!(output.stderr.contains(part) && output.stderr.lines().count() == 1, "{words:?}: {output:?}");
    }
    let without = dir.truetail(&["certify", "--badge", "b.svg", "--", "ab", "{url}"]);
    assert!(without.code == Some(2) && without.stderr.contains("--suite"), "{without:?}");
}
