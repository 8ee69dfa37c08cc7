//! `--flow`: sessions and their books, as users meet them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
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

#[test]
fn what_contradicts_a_flow_is_refused_in_one_line() {
    let dir = TestDir::new();
    let host = ["--variable", "host=http://127.0.0.1:9"];
    for (more, says) in [
        (&["http://127.0.0.1:9/"][..], "--flow and a URL"),
        (&["--http2"], "--flow and --http2"),
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
