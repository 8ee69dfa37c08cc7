//! The live page: it moves, and ends equal to the report.

use std::net::TcpListener;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::LiveRun;
use crate::client::{events, get, sample};
use crate::support::{TestDir, assert_balanced, assert_complete};

/// Returns the end of the time axis of the lanes in an update, in seconds.
fn drawn_s(update: &Value) -> f64 {
    let picture = update["pictures"]["lanes"].as_str().expect("a picture");
    let json =
        picture.split_once("<script type=\"application/json\">").and_then(|(_, rest)| rest.split_once("</script>"));
    let Some((json, _)) = json else { return 0.0 };
    let reading: Value = serde_json::from_str(json).expect("JSON");
    reading["axis"]["range"][1].as_f64().expect("seconds")
}

#[test]
fn the_page_moves_and_ends_as_the_report() {
    // Long enough for the page to move on any machine.
    let live = LiveRun::start("120s", &["--fail-if", "p99 > 10s", "--fail-if", "p50 > 1ns"]);
    let page = get(live.address, "/", "").expect("the page");
    assert!(page.status() == "200" && page.text().starts_with("<!DOCTYPE html>"), "{page:?}");
    assert!(page.head.contains("Content-Security-Policy: default-src 'none'"), "{}", page.head);
    let mut updates = Vec::new();
    let mut end = None;
    for (name, data) in events(live.address) {
        let data: Value = serde_json::from_str(&data).expect("JSON");
        match name.as_str() {
            // Further updates do not matter.
            "update" if updates.len() < 3 => updates.push(data),
            "update" => continue,
            "end" => end = Some(data),
            other => panic!("{other}"),
        }
        if updates.len() == 3 && end.is_none() {
            live.process.signal(Signal::SIGINT);
        }
    }
    assert!(updates.len() >= 3, "{} updates", updates.len());
    for update in &updates {
        assert!(update["pictures"]["heat"].as_str().is_some_and(|picture| picture.contains("</svg>")), "{update}");
        assert!(update["sections"]["verdict"].is_string() && update["sections"]["books"].is_string());
        // The books balance at any time.
        assert!(!update["sections"]["verdict"].as_str().expect("a text").contains("books_unbalanced"), "{update}");
    }
    // Seconds of the run that are drawn. The number of columns may fall, because columns grow wider with the run.
    assert!(updates.windows(2).all(|pair| drawn_s(&pair[1]) >= drawn_s(&pair[0])), "time never goes back");
    assert!(drawn_s(&updates[updates.len() - 1]) > drawn_s(&updates[0]), "it does not move");
    let folder = live.folder();
    let output = live.process.end();
    let report = std::fs::read_to_string(folder.join("report.html")).expect("the report");
    assert_eq!(end.expect("an end")["html"], Value::String(report), "the page ends as the report");
    let run = assert_complete(&folder);
    assert_balanced(&run);
    // The second gate fails.
    assert_eq!(output.code, Some(3), "{output:?}");
}

#[test]
fn metrics_count_what_the_report_counts() {
    let live = LiveRun::start("120s", &["--fail-if", "p99 > 10s"]);
    let mut texts = Vec::new();
    let mut last = String::new();
    // One scrape after each change of the state; the last while the process waits for a reader of this stream.
    for (name, _) in events(live.address) {
        match name.as_str() {
            "end" => {
                last = get(live.address, "/metrics", "").map(|answer| answer.text().to_owned()).unwrap_or_default()
            }
            _ if texts.len() == 3 => {}
            _ => {
                texts.push(get(live.address, "/metrics", "").expect("metrics"));
                if texts.len() == 3 {
                    live.process.signal(Signal::SIGINT);
                }
            }
        }
    }
    let mut before = 0.0;
    for answer in &texts {
        assert!(answer.head.contains("Content-Type: text/plain; version=0.0.4"), "{}", answer.head);
        let text = answer.text();
        let of = |name: &str| sample(text, name).unwrap_or_else(|| panic!("no {name} in {text}"));
        let completed = of("truetail_requests_completed_total");
        assert!(completed >= before && of("truetail_requests_sent_total") >= completed);
        assert_eq!(of("truetail_arrivals_planned_total"), of("truetail_response_time_seconds_count"));
        assert_eq!(of("truetail_responses_total{status=\"200\"}"), completed);
        assert_eq!(of("truetail_service_time_seconds_bucket{le=\"+Inf\"}"), completed);
        let states = ["valid", "suspect", "invalid"].map(|state| of(&format!("truetail_verdict{{state=\"{state}\"}}")));
        assert_eq!(states.iter().sum::<f64>(), 1.0);
        let gate = |state: &str| of(&format!("truetail_gate{{gate=\"p99 > 10s\",state=\"{state}\"}}"));
        assert_eq!(gate("holds") + gate("open") + gate("fails"), 1.0);
        before = completed;
    }
    assert!(before > 0.0 && texts.len() >= 2);
    // The server accepts no connection after the end, so the last scrape may have been too late.
    let folder = live.folder();
    live.process.end();
    if !last.is_empty() {
        let planned = assert_complete(&folder)["tally"]["planned"].as_f64();
        assert_eq!(sample(&last, "truetail_arrivals_planned_total"), planned);
    }
}

#[test]
fn native_histograms_are_given_to_those_who_ask() {
    let live = LiveRun::start("3s", &["--no-preflight"]);
    let accept = "Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,text/plain;q=0.3\r\n";
    let answer = get(live.address, "/metrics", accept).expect("metrics");
    assert!(answer.head.contains("proto=io.prometheus.client.MetricFamily; encoding=delimited"), "{}", answer.head);
    assert!(answer.body.windows(19).any(|bytes| bytes == b"truetail_build_info"));
    live.process.end();
}

#[test]
fn a_page_nobody_looks_at_holds_nothing_up_and_others_are_refused() {
    let live = LiveRun::start("1s", &["--quiet"]);
    for (path, headers, status) in [
        ("/other", "", "404"),
        ("/../../etc/passwd", "", "404"),
        ("/metrics", "Origin: http://evil.example\r\n", "403"),
        ("/", "Host: evil.example\r\n", "403"),
    ] {
        assert_eq!(get(live.address, path, headers).expect("an answer").status(), status, "{path} {headers}");
    }
    let address = live.address;
    let output = live.process.end();
    output.assert_code(&assert_complete(&live.dir.path().join("run")), 0);
    assert!(get(address, "/", "").is_err(), "it ends with the run");
}

#[test]
fn a_port_in_use_ends_the_command_before_the_load() {
    let dir = TestDir::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    // Nothing listens at the target. The message is about the live page, which is checked first.
    let output = dir.truetail(&["run", "http://127.0.0.1:1/", "-r", "10", "-d", "1s", "--live", &address]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert!(lines.len() == 1 && lines[0].contains("--live") && lines[0].contains("choose another port"), "{output:?}");
    for given in ["nonsense", "127.0.0.1", "127.0.0.1:99999"] {
        let output = dir.truetail(&["run", "http://127.0.0.1:1/", "-r", "10", "-d", "1s", "--live", given]);
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains("such as 127.0.0.1:9000"), "{output:?}");
    }
    assert!(dir.runs().is_empty());
}

#[test]
fn other_addresses_than_loopback_come_with_a_note() {
    let dir = TestDir::new();
    let output = dir.truetail(&["run", "http://127.0.0.1:1/", "-r", "10", "-d", "1s", "--live", "0.0.0.0:0"]);
    // The preflight fails, after the note.
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("everyone who can reach 0.0.0.0:0 can see this run"), "{output:?}");
}
