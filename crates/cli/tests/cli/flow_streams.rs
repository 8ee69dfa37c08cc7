//! `--stream` and `--llm` with `--flow`: steps whose answers are streams.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::raw_server::serve_each;
use super::support::{CommandOutput, TestDir, assert_balanced, assert_complete};

/// Starts a server and returns its URL. Every fourth `/login` fails. `/chat` sends two content events and an end mark,
/// every fifth `/short` has no end mark, and `/idle` stalls after its first event.
fn serve() -> String {
    let counts = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let place = serve_each(move |socket| answer_all(socket, &counts));
    let url = format!("http://{place}");
    url
}

fn answer_all(mut socket: TcpStream, [logins, shorts]: &[AtomicU64; 2]) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    loop {
        let head: Vec<_> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        match head.first()?.split(' ').nth(1)? {
            "/login" => {
                let status = if logins.fetch_add(1, Ordering::Relaxed) % 4 == 3 { 500 } else { 200 };
                write!(socket, "HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\nok").ok()?;
            }
            "/chat" => stream(&mut socket, true)?,
            "/short" => stream(&mut socket, shorts.fetch_add(1, Ordering::Relaxed) % 5 != 4)?,
            _ => {
                socket.write_all(HEAD).ok()?;
                event(&mut socket, "first")?;
                thread::sleep(Duration::from_secs(20));
            }
        }
    }
}

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

fn event(socket: &mut TcpStream, data: &str) -> Option<()> {
    let event = format!("data: {data}\n\n");
    write!(socket, "{:x}\r\n{event}\r\n", event.len()).ok()
}

fn stream(socket: &mut TcpStream, is_marked: bool) -> Option<()> {
    socket.write_all(HEAD).ok()?;
    for word in ["a", "b"] {
        event(socket, &format!("{{\"choices\":[{{\"delta\":{{\"content\":\"{word}\"}}}}]}}"))?;
        thread::sleep(Duration::from_millis(2));
    }
    if is_marked {
        event(socket, "[DONE]")?;
    }
    socket.write_all(b"0\r\n\r\n").ok()
}

const CHAT: &str = "# truetail: name login\nGET {{host}}/login\nHTTP 200\n\n\
                    # truetail: name first\n# truetail: stream\nGET {{host}}/chat\nHTTP 200\n[Asserts]\nbody contains \"[DONE]\"\n\n\
                    # truetail: name second\n# truetail: stream\nGET {{host}}/short\nHTTP 200\n";

fn run(dir: &TestDir, flow: &str, url: &str, more: &str) -> CommandOutput {
    fs::write(dir.path().join("chat.hurl"), flow).expect("a file");
    let line = format!("run --flow chat.hurl --variable host={url} --no-preflight --quiet {more}");
    dir.truetail(&line.split_whitespace().collect::<Vec<_>>())
}

/// Makes a run, and checks that its folder is complete.
fn measured(dir: &TestDir, flow: &str, url: &str, more: &str) -> (CommandOutput, Value) {
    let output = run(dir, flow, url, &format!("{more} --out here"));
    let run_file = assert_complete(&dir.path().join("here"));
    assert_balanced(&run_file);
    (output, run_file)
}

#[test]
fn streams_of_steps_have_books_with_what_was_not_reached() {
    let url = serve();
    let dir = TestDir::new();
    let (output, run_file) =
        measured(&dir, CHAT, &url, "-r 100 -d 400ms --llm openai-chat --slo e2e<60s --vllm-json v.json");
    // Of 40 sessions, 10 end at their login. Of 30 second chats, 6 have no end.
    let streams = &run_file["stream"];
    let tally = json!({"planned": 80, "complete": 54, "unfinished": 6, "cut": 0, "idle": 0, "timed_out": 0,
        "in_flight_at_end": 0, "not_a_stream": 0, "failed": 0, "never_issued": 0, "not_reached": 20});
    assert_eq!((&streams["tally"], &streams["of_steps"]), (&tally, &json!(["first", "second"])), "{output:?}");
    assert_eq!((&run_file["sessions"]["tally"]["completed"], &run_file["tally"]["planned"]), (&30.into(), &100.into()));
    assert_eq!((&streams["llm"]["content_events"], &streams["llm"]["slo"]["met"]), (&120.into(), &54.into()));
    // A step that is not reached misses the objective: 54 of 80.
    assert_eq!(streams["goodput"]["share"], json!(0.675));
    let per_second = streams["goodput"]["per_second"].as_f64().unwrap();
    assert!((per_second - 54.0 / 0.4).abs() < 1e-6, "54 in 0.4 s: {per_second}");
    // Of 100 requests in 0.4 s, 80 were planned as streams.
    let v: Value = serde_json::from_str(&fs::read_to_string(dir.path().join("v.json")).unwrap()).unwrap();
    assert_eq!((&v["num_prompts"], &v["request_rate"]), (&80.into(), &json!(200.0)));
    let text = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = "Streams steps first, second: 54 of 80 complete, 6 without their end, 20 not reached";
    assert!(
        text.contains(says) && text.contains("TTFT 60") && text.contains("68% of planned streams met"),
        "{output:?}"
    );
    let again = dir.truetail(&["report", "here"]);
    assert!(again.stdout.contains("54 of 80 complete"), "{again:?}");
}

#[test]
fn stripes_of_streams_of_steps_are_merged() {
    let url = serve();
    let dir = TestDir::new();
    for stripe in [1, 2] {
        run(&dir, CHAT, &url, &format!("-r 100 -d 400ms --stream sse --stripe {stripe}/2 --out part{stripe}"));
    }
    let merge = dir.truetail(&["merge", "part1", "part2", "--out", "whole"]);
    let whole = assert_complete(&dir.path().join("whole"));
    let count = |name: &str| whole["stream"]["tally"][name].as_u64().unwrap_or(0);
    assert_eq!((count("planned"), count("complete") + count("not_reached")), (80, 80), "{merge:?}");
    assert_eq!(whole["stream"]["of_steps"], json!(["first", "second"]));
}

/// The first step of a session has an intended start even if it is not issued, and stays in the books.
#[test]
fn a_session_that_never_began_leaves_its_first_stream_in_the_books() {
    let url = serve();
    let dir = TestDir::new();
    let flow = "# truetail: stream\nGET {{host}}/idle\n\n# truetail: stream\nGET {{host}}/chat\n";
    let (output, run_file) = measured(&dir, flow, &url, "-r 100 -d 100ms -c 1 --drain 200ms --stream sse");
    let tally = &run_file["stream"]["tally"];
    let of = |name: &str| tally[name].as_u64().unwrap_or(0);
    assert_eq!((of("planned"), of("not_reached")), (20, 10), "{output:?}");
    assert_eq!(of("never_issued") + of("in_flight_at_end"), 10, "{tally}");
    let first = &run_file["stream"]["first_event_time"];
    assert_eq!(first["count"], Value::from(10), "one began, nine are known from below: {first}");
}

#[test]
fn a_stream_that_stands_still_ends_its_session() {
    let url = serve();
    let dir = TestDir::new();
    let flow = "GET {{host}}/login\n\n# truetail: stream\nGET {{host}}/idle\nHTTP 200\n\nGET {{host}}/login\n";
    let (output, run_file) = measured(&dir, flow, &url, "-r 100 -d 60ms --stream sse --idle-timeout 50ms");
    let sessions = &run_file["sessions"];
    let tally = &run_file["stream"]["tally"];
    assert_eq!((&tally["idle"], &tally["planned"]), (&6.into(), &6.into()), "{output:?}");
    assert_eq!(sessions["steps"][1]["ended_here"], json!({"timed_out": 6}), "{sessions}");
}

/// Streams count by their own due times. Streams not reached count by the arrivals of their sessions.
#[test]
fn repeated_streams_and_a_warm_up_have_books_that_balance() {
    let url = serve();
    let dir = TestDir::new();
    let flow =
        "GET {{host}}/login\nHTTP 200\n\n# truetail: stream\nGET {{host}}/chat\n[Options]\nrepeat: 3\nHTTP 200\n";
    let (_, run_file) = measured(&dir, flow, &url, "-r 100 -d 400ms --warmup 105ms --llm openai-chat");
    let tally = &run_file["stream"]["tally"];
    let step = &run_file["sessions"]["steps"][1];
    // Some of the 29 measured sessions end at their login. Later requests of warm-up sessions count as well.
    let of = |name: &str| tally[name].as_u64().unwrap_or(0);
    assert_eq!(step["reached"].as_u64().unwrap() + of("not_reached"), 29 * 3, "{step}");
    assert!(of("not_reached") >= 21 && of("planned") >= 29 * 3 && of("complete") + of("not_reached") == of("planned"));
    let again = dir.truetail(&["report", "here"]);
    assert!(again.stdout.contains(" not reached") && !run_file["notes"].to_string().contains("bug"), "{again:?}");
}

#[test]
fn streams_of_steps_are_read_in_http2_too() {
    let url = super::http2::serve(7);
    let dir = TestDir::new();
    let flow = "GET {{host}}/login\nHTTP 200\n\n# truetail: stream\nGET {{host}}/chat\nHTTP 200\n";
    let (_, run_file) = measured(&dir, flow, url.trim_end_matches('/'), "-r 100 -d 200ms --http2 --stream chunks");
    let streams = &run_file["stream"];
    assert_eq!((&streams["tally"]["complete"], &streams["events"]), (&20.into(), &20.into()));
    assert_eq!((&streams["tally"]["planned"], &run_file["tally"]["planned"]), (&20.into(), &40.into()));
}

/// A chat that was not reached because its login failed is certainly lost.
#[test]
fn a_gate_knows_which_streams_were_lost() {
    let url = serve();
    let dir = TestDir::new();
    let (output, run_file) =
        measured(&dir, CHAT, &url, "-r 100 -d 400ms --stream sse --fail-if incomplete-streams>20%");
    assert_eq!((&run_file["gates"][0]["state"], output.code), (&"fails".into(), Some(3)), "{}", run_file["gates"]);
}

#[test]
fn what_makes_no_sense_of_streams_in_a_flow_is_refused() {
    let dir = TestDir::new();
    for (flow, more, says) in [
        ("GET http://127.0.0.1:9/\n", "--stream sse", "no step of the flow is a stream; write '# truetail: stream'"),
        (
            "# truetail: stream\nGET http://127.0.0.1:9/\n[Options]\nlocation: true\n",
            "--stream sse",
            "chat.hurl:2: a step that is a stream is one request; leave location and retry out of it",
        ),
        ("# truetail: stream chunks\nGET http://127.0.0.1:9/\n", "", "'# truetail: stream chunks' is not understood"),
    ] {
        let output = run(&dir, flow, "x", &format!("-r 1 -d 1s {more}"));
        assert_eq!((output.code, output.stderr.trim_end().lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains(says), "{output:?}");
    }
    fs::write(dir.path().join("login.hurl"), "# truetail: stream\nGET http://127.0.0.1:9/\n").expect("a file");
    let output = run(&dir, CHAT, "x", "-r 1 -d 1s --stream sse --setup login.hurl");
    assert_eq!((output.code, output.stderr.contains("a setup measures nothing")), (Some(2), true), "{output:?}");
}
