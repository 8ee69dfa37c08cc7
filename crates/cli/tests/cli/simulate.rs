//! `truetail simulate`: exact figures of scenarios and labs, and the lab that runs in real time.

use nix::sys::signal::Signal;
use serde_json::Value;

use super::support::{TestDir, TestProcess, assert_balanced, assert_complete};

/// (scenario, quantile and truth in ms): every figure of the truth column of the founding documents.
const TRUTHS: [(&str, &[(f64, f64)]); 5] = [
    ("01-healthy", &[(0.5, 10.0), (0.9, 10.0), (0.99, 10.0), (0.999, 10.0), (0.9999, 10.0), (1.0, 10.0)]),
    ("02-single-hiccup", &[(0.5, 10.0), (0.99, 410.0), (0.999, 950.0), (0.9999, 1004.0), (1.0, 1010.0)]),
    ("03-sustained-slowdown", &[(0.5, 40.0), (0.9, 100.0), (0.99, 100.0)]),
    ("04-gc-pauses", &[(0.99, 110.0), (0.999, 200.0), (0.9999, 209.0), (1.0, 210.0)]),
    ("05-saturation", &[(0.5, 30_005.0), (0.99, 59_405.0), (1.0, 60_005.0)]),
];

fn quantile(series: &Value, q: f64) -> Option<u64> {
    let quantiles = series["response_time"]["quantiles"].as_array().expect("quantiles");
    quantiles.iter().find(|quantile| quantile["q"] == q)?["value_ns"].as_u64()
}

fn series<'a>(simulated: &'a Value, name: &str) -> &'a Value {
    let all = simulated["series"].as_array().expect("series");
    all.iter().find(|series| series["name"] == name).unwrap_or_else(|| panic!("no {name} in {simulated}"))
}

fn assert_near(series: &Value, q: f64, ms: f64) {
    let value = quantile(series, q).expect("a value") as f64 / 1e6;
    assert!((value / ms - 1.0).abs() < 0.001, "q={q}: {value} ms and not {ms}");
}

fn bytes(dir: &TestDir, path: &str) -> Vec<u8> {
    std::fs::read(dir.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn text(dir: &TestDir, path: &str) -> String {
    String::from_utf8(bytes(dir, path)).expect("UTF-8")
}

fn assert_pictures(dir: &TestDir, folder: &str, names: &[&str]) {
    for name in names {
        assert!(bytes(dir, &format!("{folder}/{name}.png")).starts_with(b"\x89PNG"), "{name}");
        let svg = text(dir, &format!("{folder}/{name}.svg"));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{name}: {svg}");
    }
}

#[test]
fn the_model_that_stalls_has_books_of_its_streams() {
    let dir = TestDir::new();
    let simulated = dir.truetail(&["simulate", "06", "--json"]).json();
    let stream = &series(&simulated, "open-loop")["stream"];
    assert_eq!((&stream["tally"]["complete"], &stream["tally"]["planned"]), (&1200.into(), &1200.into()));
    // 50 content events, one event with the finish reason, and the end mark.
    assert_eq!(stream["events"], 1200 * 52);
    for (time, q, ms) in [
        ("first_event_time", 0.5, 45.8),
        ("first_event_time", 0.99, 5702.8),
        ("event_gap", 0.5, 22.8),
        ("event_gap", 0.99, 82.6),
    ] {
        let quantiles = stream[time]["quantiles"].as_array().expect("quantiles");
        let found = quantiles.iter().find(|one| one["q"] == q).expect("it is supported")["value_ns"].as_f64();
        assert!((found.expect("a value") / 1e6 / ms - 1.0).abs() < 0.001, "{time} {q}: {found:?}");
    }
    let text = dir.truetail(&["simulate", "06"]).stdout;
    assert!(text.contains("Streams      1200 of 1200 complete") && text.contains("longest gap"), "{text}");
}

#[test]
fn the_scenarios_are_their_truth() {
    let dir = TestDir::new();
    for (name, truth) in TRUTHS {
        let output = dir.truetail(&["simulate", name, "--json"]);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{name}");
        let simulated = output.json();
        assert_eq!(simulated["scenario"], name);
        let open = series(&simulated, "open-loop");
        assert_eq!((open["model"].as_str(), open["tally"]["planned"].as_u64()), (Some("open"), Some(60_000)), "{name}");
        assert_balanced(open);
        for (q, ms) in truth {
            // The table has whole milliseconds. On a ramp, an arrival is a few µs off them.
            let value = quantile(open, *q).expect("a value") as f64 / 1e6;
            assert!((value - ms).abs() < 0.01, "{name} q={q}: {value} ms and not {ms}");
        }
    }
}

#[test]
fn a_scenario_is_saved_as_a_run_with_its_picture() {
    let dir = TestDir::new();
    for (options, code) in [(&[][..], 0), (&[], 1), (&["--force"], 0)] {
        let out = dir.truetail(&[&["simulate", "02", "--out", "here"][..], options].concat());
        assert_eq!(out.code, Some(code), "{out:?}");
    }
    assert_eq!(assert_complete(&dir.path().join("here"))["source"]["kind"], "simulator");
    assert_pictures(&dir, "here", &["percentiles"]);
    assert!(text(&dir, "here/percentiles.svg").contains("p99 410.0ms"));
}

#[test]
fn the_freeze_is_the_published_one() {
    let dir = TestDir::new();
    let output = dir.truetail(&["simulate", "freeze", "--json", "--out", "here"]);
    let names: Vec<_> = output.json()["series"].as_array().expect("series").iter().map(|s| s["name"].clone()).collect();
    assert_eq!(names, ["closed-loop-raw", "closed-loop-corrected", "open-loop"]);
    for name in ["closed-loop-raw", "closed-loop-corrected", "open-loop"] {
        assert_complete(&dir.path().join("here").join(name));
    }
    let summary = "series,total_requests,whole_run_p99_ms\n\
                   closed-loop-raw,450,10.0\nclosed-loop-corrected,450,460.0\nopen-loop,500,460.0\n";
    assert_eq!(text(&dir, "here/summary.csv"), summary);
    let raw = text(&dir, "here/closed-loop-raw.csv");
    assert_eq!(raw.lines().nth(3), Some("3,10.0,10.0,510.0,510.0,51.0,251"));
    assert_pictures(&dir, "here", &["p99-comparison", "throughput", "percentiles"]);
}

#[test]
fn the_manifest_of_the_freeze_knows_every_file() {
    let dir = TestDir::new();
    assert_eq!(dir.truetail(&["simulate", "freeze", "--out", "here"]).code, Some(0));
    let manifest: Value = serde_json::from_str(&text(&dir, "here/manifest.json")).expect("JSON");
    let artifacts = manifest["artifacts"].as_array().expect("artifacts");
    assert_eq!(artifacts.len(), 4);
    assert!(artifacts.iter().all(|artifact| artifact["golden_match"] == true), "{manifest}");
    let plots = manifest["plots"].as_array().expect("plots");
    let files: Vec<_> = plots.iter().map(|plot| plot["file"].as_str().expect("a name")).collect();
    let endings =
        ["p99-comparison", "throughput", "percentiles"].map(|name| [format!("{name}.svg"), format!("{name}.png")]);
    assert_eq!(files, endings.concat());
    for entry in artifacts.iter().chain(plots) {
        let name = entry["file"].as_str().expect("a name");
        assert_eq!(entry["sha256"].as_str().map(str::len), Some(64), "{name}");
        assert!(!bytes(&dir, &format!("here/{name}")).is_empty(), "{name}");
    }
}

#[test]
fn a_freeze_with_other_options_has_nothing_to_match() {
    let dir = TestDir::new();
    let options = ["--base", "20ms", "--pause-start", "1s", "--pause-length", "1s", "--duration", "4s"];
    let more = ["--expected-interval", "20ms", "--snapshot-interval", "500ms", "--users", "3", "--out", "here"];
    let output = dir.truetail(&[&["simulate", "freeze"], &options[..], &more[..]].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(text(&dir, "here/open-loop.csv").lines().count(), 9);
    let manifest = text(&dir, "here/manifest.json");
    assert_eq!(manifest.matches("\"golden_match\": null").count(), 4, "{manifest}");
    for part in ["\"base\": \"20ms\"", "\"users\": 3", "\"snapshot_interval\": \"500ms\""] {
        assert!(manifest.contains(part), "{part} in {manifest}");
    }
}

#[test]
fn every_nth_is_the_truth_of_the_table() {
    let simulated = TestDir::new().truetail(&["simulate", "every-nth", "--json"]).json();
    let closed = series(&simulated, "closed-loop");
    let open = series(&simulated, "open-loop");
    assert_near(open, 0.9, 137.67);
    assert_near(open, 0.99, 193.89);
    assert_near(closed, 0.99, 1.0);
    let slow =
        |series: &Value| (series["slower_than"]["limit_ns"].as_u64(), series["slower_than"]["requests"].as_u64());
    assert_eq!(slow(closed), (Some(2_000_000), Some(27)));
    assert_eq!(slow(open), (Some(2_000_000), Some(4_213)));
    assert!(simulated.get("truth").is_none(), "virtual time is the truth");
}

#[test]
fn the_other_labs_have_their_tables() {
    let dir = TestDir::new();
    for (lab, figures) in [("every-nth", ["4213", "194×"]), ("order-router", ["2.050ms", "200 arrivals"])] {
        let output = dir.truetail(&["simulate", lab, "--out", lab]);
        assert_eq!(output.code, Some(0), "{output:?}");
        assert!(figures.iter().all(|figure| output.stdout.contains(figure)), "{}", output.stdout);
        assert_pictures(&dir, lab, &["percentiles"]);
    }
    let output = dir.truetail(&["simulate", "every-nth", "--rate", "900", "--duration", "1s"]);
    assert!(output.stdout.contains("backlog grows"), "{}", output.stdout);
}

fn saved(dir: &TestDir, series: &str) -> Value {
    assert_complete(&dir.path().join("here").join(series))
}

/// Returns the run that determines the exit code: an INVALID one, if there is one.
fn worst(runs: &[Value; 2]) -> &Value {
    runs.iter().find(|run| run["verdict"]["state"] == "INVALID").unwrap_or(&runs[0])
}

/// Checks what holds on any machine: counts, books, the pause as a lower bound, and that the truth is shown.
#[test]
fn every_nth_in_real_time() {
    let dir = TestDir::new();
    let lab = ["simulate", "every-nth", "--real-time", "--quiet", "--json", "--out", "here"];
    let short = ["--rate", "100", "--duration", "1s", "--pause-every", "40", "--pause", "100ms"];
    let output = dir.truetail(&[&lab[..], &short[..]].concat());
    let measured = output.json();
    assert_eq!(output.stderr, "", "--quiet");
    for name in ["closed-loop", "open-loop"] {
        let series = series(&measured, name);
        assert_balanced(series);
        assert_eq!(series["tally"]["planned"], 100, "{name}");
        // Requests 40 and 80 of 100 sleep for 100 ms or more.
        assert!(series["response_time"]["max_ns"].as_u64() >= Some(100_000_000), "{name}: {series}");
        assert!(series["slower_than"]["requests"].as_u64() >= Some(2), "{name}: {series}");
        let run = assert_complete(&dir.path().join("here").join(name));
        assert_eq!((run["source"]["kind"].as_str(), run["interrupted"].as_bool()), (Some("callable"), Some(false)));
        assert!(run["notes"][0].as_str().is_some_and(|note| note.contains("median of 50")), "{}", run["notes"]);
    }
    assert_eq!(measured["truth"].as_array().map(Vec::len), Some(2));
    assert_pictures(&dir, "here", &["percentiles"]);
    output.assert_code(worst(&["closed-loop", "open-loop"].map(|name| saved(&dir, name))), 0);
}

#[test]
fn every_nth_in_real_time_ends_at_ctrl_c_with_balanced_books() {
    let dir = TestDir::new();
    let command = ["simulate", "every-nth", "--real-time", "--duration", "10m", "--out", "here"];
    let mut running = TestProcess::start(dir.command(&command));
    // After a progress line, the closed loop is running.
    running.wait_for_stderr("requests");
    running.signal(Signal::SIGINT);
    let output = running.end();
    assert!(output.stdout.contains("saved in here"), "{output:?}");
    let closed = saved(&dir, "closed-loop");
    let planned = closed["tally"]["planned"].as_u64().expect("a number");
    assert!(planned > 0 && planned < 270_000, "{planned}");
    let open = saved(&dir, "open-loop");
    // The open loop was never begun, so only the closed one has a verdict that counts.
    output.assert_code(&closed, 0);
    for run in [&closed, &open] {
        assert_balanced(run);
        assert_eq!(run["interrupted"], true);
    }
}

#[test]
fn help_groups_the_options_by_lab() {
    let help = TestDir::new().truetail(&["simulate", "--help"]).stdout;
    for heading in ["All labs:", "Lab freeze", "Labs every-nth and order-router:", "Lab every-nth"] {
        assert!(help.lines().any(|line| line.starts_with(heading)), "{heading} in {help}");
    }
}

/// (arguments, parts of the single error line).
const MISTAKES: [(&[&str], &[&str]); 22] = [
    (&["frezze"], &["frezze", "freeze, every-nth, order-router"]),
    (
        &["freeze", "--pause-every", "3"],
        &["--pause-every is an option of the labs every-nth and order-router", "--users"],
    ),
    (&["freeze", "--rate", "3"], &["--rate is an option of"]),
    (&["every-nth", "--users", "3"], &["--users is an option of the lab freeze"]),
    (&["order-router", "--real-time"], &["--real-time is an option of the lab every-nth"]),
    (&["order-router", "--quiet"], &["--quiet is an option of the lab every-nth"]),
    (&["02", "--base", "3ms"], &["--base is an option of the labs freeze, every-nth and order-router", "TOML"]),
    (&["02", "--real-time"], &["--real-time is an option of", "'02'"]),
    (&["every-nth", "--quiet"], &["--quiet", "--real-time"]),
    (&["every-nth", "--pause-every", "800ms"], &["--pause-every 800ms", "500"]),
    (&["every-nth", "--pause-every", "0"], &["--pause-every"]),
    (&["every-nth", "--pause-every", "1.5"], &["--pause-every", "1.5"]),
    (&["every-nth", "--rate", "0"], &["--rate"]),
    (&["every-nth", "--rate", "1000000000000"], &["every-nth", "requests"]),
    (&["order-router", "--pause-every", "500"], &["--pause-every 500", "800ms"]),
    (&["order-router", "--pause", "1s"], &["order-router", "pause of 1s every 800ms"]),
    (&["freeze", "--base", "0s"], &["--base"]),
    (&["freeze", "--base", "-1s"], &["--base"]),
    (&["freeze", "--base", "10500us"], &["freeze", "base is 10500us", "whole milliseconds"]),
    (&["freeze", "--users", "0"], &["--users"]),
    (&["freeze", "--pause-start", "5s"], &["--pause-start 5s", "--duration 5s"]),
    (&["freeze", "--duration", "forever"], &["--duration", "forever"]),
];

#[test]
fn mistakes_are_told_in_one_line_before_anything_is_made() {
    let dir = TestDir::new();
    for (arguments, parts) in MISTAKES {
        let output = dir.truetail(&[&["simulate"], arguments, &["--out", "here"]].concat());
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{arguments:?}: {output:?}");
        assert_eq!(output.stderr.lines().count(), 1, "{arguments:?}: {output:?}");
        assert!(parts.iter().all(|part| output.stderr.contains(part)), "{arguments:?}: {}", output.stderr);
        assert!(!dir.path().join("here").exists(), "{arguments:?} left a folder");
    }
    dir.file("occupied", "");
    let output = dir.truetail(&["simulate", "freeze", "--out", "occupied"]);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
}
