//! `--flow`: sessions and their books, as users meet them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::Value;

use super::support::{CommandOutput, TestDir, assert_balanced, assert_complete};

/// A server with a login, which gives a token, and a list, which wants it. Every fourth list fails. Its URL.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let count = Arc::new(AtomicU64::new(0));
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let count = Arc::clone(&count);
            thread::spawn(move || answer_all(socket, &count));
        }
    });
    url
}

fn answer_all(mut socket: TcpStream, count: &AtomicU64) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    loop {
        let head: Vec<_> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let (status, token) = match head.first()?.split(' ').nth(1)? {
            "/login" => (200, "X-Token: t0\r\n"),
            _ if !head.iter().any(|line| line == "X-Token: t0") => (403, ""),
            _ if count.fetch_add(1, Ordering::Relaxed) % 4 == 3 => (500, ""),
            _ => (200, ""),
        };
        let answer = format!("HTTP/1.1 {status} X\r\n{token}Content-Length: 9\r\n\r\n{{\"id\": 7}}");
        socket.write_all(answer.as_bytes()).ok()?;
    }
}

const FLOW: &str = "# truetail: name login\nGET {{host}}/login\nHTTP 200\n[Captures]\ntoken: header \"X-Token\"\n\n\
                    GET {{host}}/list\nX-Token: {{token}}\nHTTP 200\n[Asserts]\njsonpath \"$.id\" == 7\n";

fn run(dir: &TestDir, more: &[&str]) -> CommandOutput {
    fs::write(dir.path().join("shop.hurl"), FLOW).expect("a file");
    dir.truetail(&[&["run", "--flow", "shop.hurl", "-r", "50", "-d", "800ms"], more].concat())
}

#[test]
fn a_flow_is_run_and_its_books_balance() {
    let (host, dir) = (format!("host={}", serve()), TestDir::new());
    let gates = ["--fail-if", "session-time p50 > 30s", "--fail-if", "p50{login} > 30s"];
    let failing = ["--fail-if", "incomplete-sessions > 1%", "--variable", "password=hunter2"];
    let output =
        run(&dir, &[&["--variable", &host, "--json", "--quiet", "--out", "here"], &gates[..], &failing].concat());
    // A machine that stood still leaves gates open.
    assert!(matches!(output.code, Some(3 | 4)), "{output:?}");
    let run = output.json();
    assert_balanced(&run);
    let (sessions, gates) = (&run["sessions"], &run["gates"]);
    let tally = serde_json::json!({"planned": 40, "begun": 40, "never_begun": 0, "completed": 30, "ended_early": 10,
        "in_flight_at_end": 0});
    assert_eq!(sessions["tally"], tally);
    assert_eq!(sessions["steps"][1]["ended_here"], serde_json::json!({"status": 10}));
    assert_eq!((&sessions["session_time"]["count"], &sessions["session_time"]["failed"]), (&40.into(), &10.into()));
    assert_eq!((&run["tally"]["planned"], &run["targets"][0]["name"]), (&80.into(), &"login".into()));
    assert!(gates[0]["state"] != "fails" && gates[1]["state"] != "fails", "{gates}");
    assert!(
        gates[2]["state"] != "holds" && gates[2]["message"].as_str().is_some_and(|says| says.contains("25%")),
        "{gates}"
    );
    assert!(!output.stdout.contains("hunter2") && output.stdout.contains("line 9: the status is 500"));
    assert_eq!(assert_complete(&dir.path().join("here"))["sessions"]["tally"], sessions["tally"]);
    let report = dir.truetail(&["report", "here"]);
    for says in
        ["flow shop.hurl", "30 of 40 completed, 10 ended early", "ended at GET /list: 10 other status", "session time"]
    {
        assert!(report.stdout.contains(says), "{says} is missing in {}", report.stdout);
    }
}

/// What a folder has of single sessions.
fn sessions_of(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("sessions.json")).expect("a file of sessions")).expect("JSON")
}

/// Every fourth of 40 sessions ends at its second step.
#[test]
fn single_sessions_are_saved_drawn_and_merged() {
    let (dir, host) = (TestDir::new(), format!("host={}", serve()));
    for folder in ["a", "b"] {
        run(&dir, &["--variable", &host, "--out", folder]);
    }
    dir.truetail(&["merge", "a", "b", "--out", "whole"]);
    for (folder, ended) in [("a", 10), ("b", 10), ("whole", 20)] {
        let path = dir.path().join(folder);
        assert_eq!(assert_complete(&path)["sessions"]["tally"]["ended_early"], ended);
        let sampled = sessions_of(&path);
        assert_eq!(sampled["random"].as_array().map(Vec::len), Some(20));
        for session in sampled["slowest"].as_array().expect("sessions") {
            let requests = session["requests"].as_array().expect("requests");
            assert_eq!((requests.len(), &requests[1]["end_ns"]), (2, &session["end_ns"]), "{session}");
        }
    }
    dir.truetail(&["report", "whole", "--svg", "pictures", "-o", "page.html"]);
    for picture in ["session-ends", "sessions"] {
        assert!(dir.path().join(format!("pictures/{picture}.svg")).exists(), "{picture}");
    }
    let page = fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(page.contains("A few sessions, request by request") && page.contains("20 other status"));
    fs::write(dir.path().join("a/sessions.json"), "{\"slowest\": [], \"random\": []}").expect("written");
    let damaged = dir.truetail(&["report", "a"]);
    assert!(damaged.code == Some(1) && damaged.stderr.contains("sessions.json"), "{damaged:?}");
    fs::remove_file(dir.path().join("a/sessions.json")).expect("removed");
    let without = dir.truetail(&["report", "a"]);
    assert!(without.code != Some(1) && without.stdout.contains("30 of 40 completed"), "{without:?}");
}

#[test]
fn a_flow_over_http2_has_the_books_of_any_other() {
    let (url, dir) = (super::http2::serve(7), TestDir::new());
    let host = format!("host={}", url.trim_end_matches('/'));
    let flow = "GET {{host}}/a\nHTTP/2 200\n\nPOST {{host}}/b\n`text`\nHTTP 200\n[Asserts]\nbody == \"ok\"\n";
    fs::write(dir.path().join("two.hurl"), flow).expect("a file");
    let flow = ["run", "--flow", "two.hurl", "-r", "50", "-d", "800ms", "--variable", &host];
    let output = dir.truetail(&[&flow[..], &["--http2", "-c", "1", "--json", "--quiet", "--out", "here"]].concat());
    assert!(matches!(output.code, Some(0 | 4)), "{output:?}");
    let run = output.json();
    assert_balanced(&run);
    let tally = serde_json::json!({"planned": 40, "begun": 40, "never_begun": 0, "completed": 40, "ended_early": 0,
        "in_flight_at_end": 0});
    assert_eq!((&run["sessions"]["tally"], &run["statuses"]["200"]), (&tally, &80.into()));
    assert_eq!(
        (&run["generator"]["connections_opened"], &run["generator"]["streams"]["allowed"]),
        (&1.into(), &7.into())
    );
    assert!(run["scenario"]["http2"].is_object());
    assert_eq!(assert_complete(&dir.path().join("here"))["sessions"]["tally"], tally);
    let refused = dir.truetail(&flow);
    assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{refused:?}");
    assert!(refused.stderr.contains("two.hurl:2: HTTP/2 is asked for here") && refused.stderr.contains("--http2"));
}

#[test]
fn what_contradicts_a_flow_is_refused_in_one_line() {
    let dir = TestDir::new();
    let host = ["--variable", "host=http://127.0.0.1:9"];
    for (more, says) in [
        (&["http://127.0.0.1:9/"][..], "--flow and a URL"),
        (&["--max-streams", "3"], "add --http2"),
        (&["--http2", "--no-keepalive"], "--flow and --no-keepalive"),
        (&["--check", "status == 200"], "[Asserts]"),
        (&["--stream", "sse"], "--flow and --stream"),
        (&["--llm", "openai-chat"], "--flow and --llm"),
        (&["--model", "closed"], "--flow and --model"),
        (&["--think-time", "1s"], "delay"),
        (&["--warmup", "auto"], "--warmup TIME"),
        (&["--variable", "x"], "NAME=VALUE"),
        (&["--fail-if", "p99{nobody} > 1s"], "there is no target 'nobody'; there is 'login', 'GET /list'"),
        (&["--fail-if", "incomplete-streams > 1%"], "--stream"),
    ] {
        let output = run(&dir, &[&host, more].concat());
        assert_eq!(output.code, Some(2), "{more:?}: {output:?}");
        assert!(output.stderr.contains(says) && output.stderr.trim_end().lines().count() == 1, "{more:?}: {output:?}");
    }
    let unknown = run(&dir, &[]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(unknown.stderr.contains("shop.hurl:2: the variable host has no value"), "{unknown:?}");
    let session_gate = dir.truetail(&["run", "http://127.0.0.1:9/", "-r", "9", "--fail-if", "session-time p50 > 1s"]);
    assert!(session_gate.code == Some(2) && session_gate.stderr.contains("--flow FILE.hurl"), "{session_gate:?}");
    let missing: Value = dir.truetail(&["run", "--flow", "none.hurl", "-r", "9"]).code.into();
    assert_eq!(missing, 1);
}

/// The sample flow of the scenario that it is for.
const SHOP: &str = include_str!("../../../../scenarios/07-login-that-stalls/shop.hurl");

fn simulate(dir: &TestDir, scenario: &str, more: &[&str]) -> CommandOutput {
    fs::write(dir.path().join("shop.hurl"), SHOP).expect("a file");
    let flow = ["--flow", "shop.hurl", "--variable", "host=http://127.0.0.1:1"];
    dir.truetail(&[&["simulate", scenario], &flow[..], more].concat())
}

#[test]
fn a_simulated_flow_has_the_books_and_the_gates_of_a_run() {
    let dir = TestDir::new();
    let gates = ["--fail-if", "session-time p99 > 475ms", "--fail-if", "p99{list} > 10ms"];
    let output = simulate(&dir, "07", &[&["--json", "--out", "here"], &gates[..]].concat());
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    let simulated = output.json();
    let series = &simulated["series"][0];
    assert_eq!((&series["name"], &series["tally"]["responses"]), (&"partly-open-loop".into(), &9_000.into()));
    let tally = serde_json::json!({"planned": 3000, "begun": 3000, "never_begun": 0, "completed": 3000, "ended_early": 0,
        "in_flight_at_end": 0});
    assert_eq!(series["sessions"]["tally"], tally);
    let quantiles = series["sessions"]["session_time"]["quantiles"].as_array().expect("quantiles");
    for (q, ms) in [(0.5, 75.0), (0.9, 75.0), (0.99, 470.0), (1.0, 1070.0)] {
        let found = quantiles.iter().find(|one| one["q"] == q).and_then(|one| one["value_ns"].as_f64());
        assert!((found.expect("a value") / 1e6 / ms - 1.0).abs() < 0.001, "{q}: {found:?}");
    }
    assert_eq!(series["targets"][2]["name"], "buy");
    assert_eq!((&series["gates"][0]["state"], &series["gates"][1]["state"]), (&"holds".into(), &"holds".into()));
    assert_eq!(assert_complete(&dir.path().join("here"))["sessions"]["tally"], tally);
    let report = dir.truetail(&["report", "here", "--fail-if", "session-time p99 > 465ms"]);
    assert_eq!(report.code, Some(3), "{report:?}");
    for says in ["flow shop.hurl, 07-login-that-stalls, simulated", "3000 of 3000 completed", "FAILED session-time"] {
        assert!(report.stdout.contains(says), "{says} is missing in {}", report.stdout);
    }
    let sampled = sessions_of(&dir.path().join("here"));
    assert_eq!(sampled["slowest"][0]["requests"][0]["end_ns"], 31_000_000_000_u64, "{sampled}");
    let failing = simulate(&dir, "07", &["--fail-if", "incomplete-sessions < 1%"]);
    assert_eq!(failing.code, Some(3), "{failing:?}");
}

#[test]
fn what_cannot_be_simulated_is_refused_in_one_line() {
    let dir = TestDir::new();
    for (scenario, more, says) in [
        ("06", &[][..], "--flow with 06-model-that-stalls: the steps of a flow are whole answers"),
        ("07", &["--stripe", "1/2"], "--flow and --stripe cannot be used together"),
        ("freeze", &[], "--flow lets sessions arrive on the schedule of a scenario, and freeze is a lab"),
        ("07", &["--users", "3"], "--users is an option of the lab freeze"),
        ("07", &["--fail-if", "p99 >"], "--fail-if"),
    ] {
        let output = simulate(&dir, scenario, more);
        assert_eq!(output.code, Some(2), "{more:?}: {output:?}");
        assert!(output.stderr.contains(says) && output.stdout.is_empty(), "{more:?}: {output:?}");
    }
    let judged = dir.truetail(&["simulate", "freeze", "--fail-if", "p99 > 1ms"]);
    assert!(judged.code == Some(2) && judged.stderr.contains("--fail-if judges a scenario"), "{judged:?}");
    let alone = dir.truetail(&["simulate", "07", "--variable", "a=b"]);
    assert_eq!(alone.code, Some(2), "{alone:?}");
}
