//! `--check`: counts, kept answers, and the exit code.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::Value;

use super::support::{CommandOutput, TestDir, assert_balanced, assert_complete};

/// Answers the nth request, counted from 0 without the preflight; `None` closes the connection.
type Answers = Arc<dyn Fn(u64) -> Option<Vec<u8>> + Send + Sync>;

/// Starts an HTTP/1.1 server that keeps connections open, and returns its URL.
fn serve(answers: impl Fn(u64) -> Option<Vec<u8>> + Send + Sync + 'static) -> String {
    let (answers, count): (Answers, _) = (Arc::new(answers), Arc::new(AtomicU64::new(0)));
    listen(move |socket| {
        let answers = Arc::clone(&answers);
        let count = Arc::clone(&count);
        thread::spawn(move || answer_all(socket, &answers, &count));
    })
}

fn listen(on_connection: impl Fn(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/items", listener.local_addr().expect("an address"));
    thread::spawn(move || listener.incoming().flatten().for_each(on_connection));
    url
}

fn answer_all(mut socket: TcpStream, answers: &Answers, count: &AtomicU64) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    loop {
        let head: Vec<_> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        head.first()?;
        let is_preflight = head.iter().any(|line| line.starts_with("truetail-preflight"));
        let answer = if is_preflight { json(GOOD) } else { answers(count.fetch_add(1, Ordering::Relaxed))? };
        socket.write_all(&answer).ok()?;
    }
}

const GOOD: &str = r#"{"state": "ok", "items": [{"id": 7}]}"#;
const BAD: &str = r#"{"state": "down", "items": []}"#;

fn json(body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").into()
}

/// Returns the answer of [`json`] in chunks of three bytes.
fn chunked(body: &str) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunks = body
        .as_bytes()
        .chunks(3)
        .flat_map(|chunk| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    [head.as_bytes(), &chunks.collect::<Vec<_>>(), b"0\r\n\r\n"].concat()
}

const CHECKS: [&str; 6] = [
    "--check",
    "status == 200",
    "--check",
    "jsonpath $.items[0].id == 7",
    "--check",
    "header content-type contains json",
];

fn run(dir: &TestDir, url: &str, more: &[&str]) -> (CommandOutput, Value) {
    let arguments = ["run", url, "-r", "300", "--json", "--quiet", "--out", "here"];
    let output = dir.truetail(&[&arguments[..], more].concat());
    let run = output.json();
    assert_balanced(&run);
    for check in run["checks"].as_array().into_iter().flatten() {
        let of = |name: &str| check[name].as_u64().expect("a count");
        assert_eq!(Some(of("passed") + of("failed")), run["tally"]["responses"].as_u64(), "{check}");
    }
    (output, run)
}

fn failed(run: &Value) -> Vec<u64> {
    let checks = run["checks"].as_array().expect("checks");
    checks.iter().map(|check| check["failed"].as_u64().expect("a count")).collect()
}

fn kept(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("failed-answers.jsonl")).expect("answers that failed");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn answers_that_fail_are_counted_kept_and_in_the_distribution() {
    for form in [json, chunked] {
        let url = serve(move |nth| Some(form(if nth % 4 == 3 { BAD } else { GOOD })));
        let dir = TestDir::new();
        let (output, run) = run(&dir, &url, &[&CHECKS[..], &["-n", "60"]].concat());
        output.assert_code(&run, 3);
        assert_eq!(run["checks"][1]["text"], "jsonpath $.items[0].id == 7");
        assert_eq!((failed(&run), &run["tally"]["responses"]), (vec![0, 15, 0], &60.into()));
        assert_eq!(run["response_time"]["count"], 60);
        let folder = dir.path().join("here");
        assert_eq!(assert_complete(&folder)["checks"], run["checks"]);
        let kept = kept(&folder);
        assert_eq!(kept.len(), 5);
        for answer in &kept {
            assert_eq!((answer["status"].as_u64(), answer["body"].as_str()), (Some(200), Some(BAD)), "{answer}");
            assert_eq!(answer["failed"][0]["why"], "there is nothing at this path");
            assert_eq!(answer["headers"][0], "Content-Type: application/json");
            assert_eq!(answer["target"], format!("GET {url}"));
        }
    }
}

#[test]
fn a_whole_of_two_runs_has_the_checks_of_both() {
    let url = serve(|nth| Some(json(if nth % 5 == 0 { BAD } else { GOOD })));
    let dir = TestDir::new();
    for folder in ["a", "b"] {
        let output = dir.truetail(&[
            "run",
            &url,
            "-r",
            "300",
            "-n",
            "50",
            "--quiet",
            "--out",
            folder,
            "--check",
            "body contains ok",
        ]);
        assert_eq!(output.code, Some(3), "{output:?}");
    }
    let merged = dir.truetail(&["merge", "a", "b", "--out", "whole"]);
    let run = assert_complete(&dir.path().join("whole"));
    assert_eq!((&run["checks"][0]["passed"], &run["checks"][0]["failed"]), (&80.into(), &20.into()), "{merged:?}");
    assert_eq!(kept(&dir.path().join("whole")).len(), 5);
}

#[test]
fn checks_that_pass_leave_nothing_behind() {
    let url = serve(|_| Some(json(GOOD)));
    let dir = TestDir::new();
    let (output, run) =
        run(&dir, &url, &[&CHECKS[..], &["-n", "40", "--check", "body matches /\"state\": ?\"ok\"/"]].concat());
    output.assert_code(&run, 0);
    assert_eq!(failed(&run), [0; 4]);
    assert_complete(&dir.path().join("here"));
    assert!(!dir.path().join("here/failed-answers.jsonl").exists());
}

#[test]
fn what_has_no_answer_is_neither_passed_nor_failed() {
    let url = serve(|nth| (nth % 3 != 1).then(|| json(GOOD)));
    let dir = TestDir::new();
    let (_, lost) = run(&dir, &url, &["-n", "60", "--check", "body contains ok"]);
    assert!(lost["tally"]["responses"].as_u64() < Some(60), "{}", lost["tally"]);
    assert_eq!(failed(&lost), [0]);
}

#[test]
fn the_warm_up_is_not_counted_whenever_it_is_cut() {
    // With one connection, the server gets the requests in the order of the arrivals.
    for (warmup, more) in [("100ms", &["-c", "1"][..]), ("auto", &["--http2"])] {
        let first_are_bad = |nth| Some(json(if nth < 3 { BAD } else { GOOD }));
        let url = if warmup == "auto" { serve_http2() } else { serve(first_are_bad) };
        let load = ["-d", "1s", "--warmup", warmup, "--check", "body contains ok"];
        let (_, run) = run(&TestDir::new(), &url, &[&load, more].concat());
        let planned = run["tally"]["planned"].as_u64();
        assert!(if warmup == "auto" { planned <= Some(300) } else { planned == Some(270) }, "{run}");
        assert_eq!(failed(&run), [0], "{warmup}");
    }
}

/// Starts an HTTP/2 server that answers with the body `ok` and a content type. After the first answer on a connection,
/// the content type is only an index into the table.
fn serve_http2() -> String {
    listen(|socket| {
        thread::spawn(move || answer_all_in_http2(socket));
    })
}

fn answer_all_in_http2(mut socket: TcpStream) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    socket.read_exact(&mut [0; 24]).ok()?;
    socket.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).ok()?;
    let mut fields = [&[0x88, 0x5f, 16][..], b"application/json"].concat();
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        socket.read_exact(&mut vec![0; u32::from_be_bytes([0, a, b, c]) as usize]).ok()?;
        if kind <= 1 && flags & 1 == 1 {
            let head = [&[0, 0, fields.len() as u8, 1, 4][..], &stream, &fields].concat();
            let data = [&[0, 0, 2, 0, 1][..], &stream, b"ok"].concat();
            socket.write_all(&[head, data].concat()).ok()?;
            fields = vec![0x88, 0xbe];
        }
    }
}

#[test]
fn headers_and_bodies_are_seen_in_http2() {
    let url = serve_http2();
    let dir = TestDir::new();
    let checks =
        ["--check", "header content-type == application/json", "--check", "body == no", "--check", "body == ok"];
    let (output, run) = run(&dir, &url, &[&["--http2", "-n", "60"], &checks[..]].concat());
    output.assert_code(&run, 3);
    assert_eq!((failed(&run), &run["tally"]["responses"]), (vec![0, 60, 0], &60.into()));
    let kept = kept(&dir.path().join("here"));
    assert!(kept.iter().all(|answer| answer["headers"][0] == "content-type: application/json"), "{kept:?}");
    assert_eq!((kept.len(), &kept[0]["failed"][0]["why"]), (5, &"it is ok".into()));
}

#[test]
fn the_answer_before_the_load_is_checked_too_and_not_counted() {
    let url = serve(|_| Some(json(GOOD)));
    let dir = TestDir::new();
    let (output, run) = run(&dir, &url, &["-n", "20", "--check", "jsonpath $.state == down"]);
    assert_eq!((failed(&run), output.stderr.lines().count()), (vec![20], 1), "{output:?}");
    assert!(output.stderr.contains("the answer before the load fails the check"), "{output:?}");
    assert!(output.stderr.contains("it is \"ok\""), "{output:?}");
}

#[test]
fn what_is_no_check_is_told_before_anything_is_sent() {
    let dir = TestDir::new();
    for (check, part) in
        [("status = 200", "write == to compare"), ("body matches /(/", "unclosed group"), ("", "begins with status")]
    {
        let output = dir.truetail(&["run", "http://127.0.0.1:9/", "-r", "1", "--check", check]);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains("--check") && output.stderr.contains(part), "{output:?}");
    }
}
