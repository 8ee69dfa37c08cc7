//! `truetail run grpc://…`, from the flags to the report.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use super::raw_server::serve_each;
use super::support::{TestDir, assert_balanced, assert_complete};

const PROTO: &str = "syntax = \"proto3\";\npackage test;\nimport \"parts.proto\";\n\
    message Question { string name = 1; int32 count = 2; Part part = 3; }\nmessage Answer { string name = 1; }\n\
    service Asker { rpc Ask(Question) returns (Answer); rpc Many(Question) returns (stream Answer); rpc Chat(stream Question) returns (Answer); \
    rpc Talk(stream Question) returns (stream Answer); }\n";
const PARTS: &str = "syntax = \"proto3\";\npackage test;\nmessage Part { repeated string words = 1; }\n";

/// A call that the server got: the bytes of its fields, and its body.
pub(super) type Call = (Vec<u8>, Vec<u8>);

/// How a server answers.
#[derive(Clone, Copy)]
struct Manner {
    /// See [`Server::start`].
    messages: Option<usize>,
    tenth_fails: bool,
}

/// A server of HTTP/2 that answers each call with its own first message. Every tenth call may fail with UNAVAILABLE. A
/// call whose message contains `lost` fails with NOT_FOUND, and one that contains `gone` is reset (CANCEL).
pub(super) struct Server {
    pub(super) place: String,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Server {
    /// Starts a server that answers with this number of messages, or not at all. With 0, it sends back what it got.
    pub(super) fn start(messages: Option<usize>) -> Server {
        Server::with(Manner { messages, tenth_fails: true })
    }

    /// Starts a server that answers with one message, unless the message of the call says otherwise.
    pub(super) fn faithful() -> Server {
        Server::with(Manner { messages: Some(1), tenth_fails: false })
    }

    fn with(manner: Manner) -> Server {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let shared = calls.clone();
        let place = serve_each(move |socket| serve(socket, &shared, manner));
        Server { place, calls }
    }

    /// Returns the calls of the load.
    pub(super) fn calls(&self) -> Vec<Call> {
        self.calls.lock().expect("no panic").clone()
    }
}

pub(super) fn frame(kind: u8, flags: u8, stream: [u8; 4], payload: &[u8]) -> Vec<u8> {
    [&(payload.len() as u32).to_be_bytes()[1..], &[kind, flags], &stream, payload].concat()
}

pub(super) fn literal(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

pub(super) fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn serve(mut socket: TcpStream, calls: &Mutex<Vec<Call>>, manner: Manner) -> Option<()> {
    socket.read_exact(&mut [0; 24]).ok()?;
    socket.write_all(&frame(4, 0, [0; 4], &[])).ok()?;
    let mut open: std::collections::HashMap<[u8; 4], Call> = std::collections::HashMap::new();
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        socket.read_exact(&mut payload).ok()?;
        match kind {
            0 => open.get_mut(&stream)?.1.extend_from_slice(&payload),
            1 => drop(open.insert(stream, (payload, Vec::new()))),
            4 if flags == 0 => socket.write_all(&frame(4, 1, [0; 4], &[])).ok()?,
            _ => continue,
        }
        if let Some(messages) = manner.messages.filter(|_| kind < 2 && flags & 1 == 1) {
            let call = open.remove(&stream)?;
            socket.write_all(&answer(stream, call, messages, manner.tenth_fails, calls)).ok()?;
        }
    }
}

fn answer(stream: [u8; 4], call: Call, messages: usize, tenth_fails: bool, calls: &Mutex<Vec<Call>>) -> Vec<u8> {
    let is_trial = contains(&call.0, "truetail-preflight");
    let mut calls = calls.lock().expect("no panic");
    let code = match () {
        () if contains(&call.1, "lost") => "5",
        () if tenth_fails && !is_trial && calls.len() % 10 == 9 => "14",
        () => "0",
    };
    let is_reset = contains(&call.1, "gone");
    let head = frame(1, 4, stream, &[vec![0x88], literal("content-type", "application/grpc")].concat());
    let first = call.1.get(1..5).map_or(0, |length| 5 + length[3] as usize);
    let echo = if messages == 0 { call.1.clone() } else { call.1[..first].repeat(messages) };
    let message = frame(0, 0, stream, &echo);
    let status = literal("grpc-status", code);
    let trailers = frame(1, 5, stream, &[status, literal("grpc-message", "no%20room")].concat());
    if !is_trial {
        calls.push(call);
    }
    match code {
        _ if is_reset => frame(3, 0, stream, &[0, 0, 0, 8]),
        "0" => [head, message, trailers].concat(),
        _ => [head, trailers].concat(),
    }
}

pub(super) fn proto(dir: &TestDir) -> &'static str {
    dir.file("parts.proto", PARTS);
    dir.file("test.proto", PROTO)
}

#[test]
fn calls_that_fail_are_in_the_books_by_name() {
    let server = Server::start(Some(1));
    let dir = TestDir::new();
    let url = format!("grpc://{}/test.Asker/Ask", server.place);
    let load = ["run", &url, "-r", "1000", "-n", "400", "--quiet", "--out", "run", "--proto", proto(&dir)];
    let more =
        ["--data", "{\"name\":\"a\",\"part\":{\"words\":[\"b\"]}}", "-H", "x-one: 1", "--fail-if", "error-rate > 2%"];
    let output = dir.truetail(&[&load[..], &more].concat());
    let run = assert_complete(&dir.path().join("run"));
    output.assert_code(&run, 3);
    assert_balanced(&run);
    assert_eq!(run["grpc"], serde_json::json!({"statuses": {"OK": 360, "UNAVAILABLE": 40}}));
    assert_eq!(run["statuses"], serde_json::json!({"200": 360, "1014": 40}));
    assert_eq!((&run["tally"]["responses"], &run["scenario"]["grpc"]["kind"]), (&400.into(), &"unary".into()));
    assert_eq!(run["scenario"]["url"].as_str(), Some(&url[..]));
    assert!(output.stdout.contains("90% OK, 10% UNAVAILABLE: 400 answers"), "{}", output.stdout);
    assert!(output.stdout.contains("gRPC over HTTP/2"), "{}", output.stdout);
    let calls = server.calls();
    assert_eq!(calls.len(), 400);
    assert!(calls.iter().all(|(_, body)| body == b"\0\0\0\0\x08\x0a\x01a\x1a\x03\x0a\x01b"), "{:?}", calls[0]);
    // The first names its fields, and later ones refer to them.
    let first = [&b"/test.Asker/Ask"[..], b"application/grpc", b"trailers", b"x-one"];
    assert!(first.iter().all(|text| calls[0].0.windows(text.len()).any(|window| window == *text)), "{:?}", calls[0]);
    assert!(!contains(&calls[0].0, "content-length"));
}

#[test]
fn rows_fill_in_messages_before_they_are_encoded() {
    let server = Server::start(Some(1));
    let dir = TestDir::new();
    let rows = dir.file("rows.csv", "name,count\n\"say \"\"hi\"\"\",7\nb,300\n");
    let url = format!("grpc://{}/test.Asker/Ask", server.place);
    let load = ["run", &url, "-r", "500", "-n", "4", "--quiet", "--no-save", "--json", "--proto", proto(&dir)];
    let more = ["--data-from", rows, "--data", "{\"name\":\"{{name}}\",\"count\":{{count}}}", "--feed", "in-order"];
    let output = dir.truetail(&[&load[..], &more].concat());
    assert!(output.stdout.contains("\"responses\": 4"), "{}{}", output.stdout, output.stderr);
    let bodies: Vec<_> = server.calls().into_iter().map(|(_, body)| body).collect();
    let first = [&b"\0\0\0\0\x0c\x0a\x08say \"hi\"\x10\x07"[..], b"\0\0\0\0\x06\x0a\x01b\x10\xac\x02"];
    assert_eq!(bodies, [first, first].concat());
}

#[test]
fn a_plain_request_to_a_method_is_no_success_if_the_call_fails() {
    let server = Server::start(Some(1));
    let dir = TestDir::new();
    dir.file("body", "\0\0\0\0\0");
    let url = format!("http://{}/test.Asker/Ask", server.place);
    let load = ["run", &url, "--http2", "-r", "1000", "-n", "100", "--quiet", "--out", "run", "--data-file", "body"];
    let output = dir.truetail(&load);
    let run = assert_complete(&dir.path().join("run"));
    assert_eq!(run["statuses"], serde_json::json!({"200": 90, "1014": 10}));
    assert!(output.stdout.contains("90% 2xx, 10% UNAVAILABLE"), "{}", output.stdout);
    assert!(output.stdout.contains("200: 90 · UNAVAILABLE: 10"), "{}", output.stdout);
    assert!(run["grpc"].is_null());
}

#[test]
fn a_deadline_is_told_to_the_server_and_kept() {
    let server = Server::start(None);
    let dir = TestDir::new();
    let url = format!("grpc://{}/test.Asker/Ask", server.place);
    let load = ["run", &url, "-r", "1000", "-n", "20", "--quiet", "--out", "run", "--proto", proto(&dir)];
    dir.truetail(&[&load[..], &["--deadline", "50ms", "--no-preflight", "--allow-errors"]].concat());
    let run = assert_complete(&dir.path().join("run"));
    assert_balanced(&run);
    assert_eq!((&run["tally"]["timed_out"], &run["scenario"]["timeout_ns"]), (&20.into(), &50_000_000.into()));
    assert_eq!(run["grpc"]["statuses"], serde_json::json!({}));
}

#[test]
fn what_cannot_be_called_is_refused_with_what_there_is() {
    let server = Server::start(Some(0));
    let dir = TestDir::new();
    let file = proto(&dir);
    dir.file("broken.proto", "syntax = \"proto3\"; message A { string name = 1 }");
    dir.file("set.bin", "no descriptors");
    let url = |path: &str| format!("grpc://{}/{path}", server.place);
    for (path, more, code, wanted) in [
        (
            "test.Asker/Ask",
            &["--proto", file, "--data", "{\"nam\":\"a\"}"][..],
            2,
            "no field 'nam' in Question; it has: name, part, count",
        ),
        (
            "test.Asker/Ask",
            &["--proto", file, "--data", "{\"part\":{\"word\":[]}}"],
            2,
            "no field 'word' in Part; it has: words",
        ),
        (
            "test.Asker/Ask",
            &["--proto", file, "--data", "{\"count\":\"many\"}"],
            2,
            "--data: the JSON is no Question: ",
        ),
        ("test.Asker/Ask", &["--proto", file, "--data", "[]"], 2, "--data: Question is an object in JSON"),
        ("test.Asker/Ask", &["--proto", file, "--data", "{"], 2, "--data: the message is not JSON"),
        (
            "test.Asker/Asks",
            &["--proto", file],
            2,
            "test.Asker has no method Asks; the methods are Ask, Many, Chat, Talk",
        ),
        ("test.Other/Ask", &["--proto", file], 2, "there is no service test.Other; the only service is test.Asker"),
        ("test.Asker/Chat", &["--proto", file, "--data", "{} {\"nam\":1}"], 2, "message 2: no field 'nam' in Question"),
        ("test.Asker/Ask", &["--proto", file, "--message-gap", "5ms"], 2, "test.Asker/Ask takes one message"),
        ("test.Asker", &["--proto", file], 2, "no method is named"),
        ("test.Asker/Ask", &["--proto", "missing.proto"], 1, "--proto: there is no file missing.proto"),
        ("test.Asker/Ask", &["--proto", "broken.proto"], 2, "--proto: "),
        ("test.Asker/Ask", &["--protoset", "set.bin"], 2, "set.bin: the schema is not valid"),
        ("test.Asker/Ask", &["--import-path", "."], 2, "add --proto FILE"),
        ("test.Asker/Ask", &["--proto", file, "--stream", "sse"], 2, "--stream is for HTTP"),
        // The server answers reflection with what is no answer to it.
        ("test.Asker/Ask", &[], 1, "the server's reflection is broken"),
    ] {
        let url = url(path);
        let output = dir.truetail(&[&["run", &url, "-r", "9", "-n", "1", "--quiet", "--no-save"][..], more].concat());
        assert_eq!(output.code, Some(code), "{path} {more:?}: {}", output.stderr);
        assert!(output.stderr.contains(wanted), "{path} {more:?}: {}", output.stderr);
        assert_eq!(output.stderr.trim_end().lines().count(), 1, "{}", output.stderr);
    }
    let output = dir.truetail(&["run", "http://127.0.0.1:9/", "-r", "9", "--deadline", "1s"]);
    assert!(output.stderr.contains("--deadline is for gRPC"), "{}", output.stderr);
}

#[test]
fn checks_read_the_status_and_the_decoded_message() {
    let server = Server::start(Some(1));
    let dir = TestDir::new();
    let url = format!("grpc://{}/test.Asker/Ask", server.place);
    let load = ["run", &url, "-r", "1000", "-n", "100", "--quiet", "--out", "run", "--proto", proto(&dir)];
    let data = ["--data", "{\"name\":\"a b\"}"];
    let checks = ["grpc-status == OK", "message.name == \"a b\"", "message.name == \"c\"", "status == 200"];
    let checks = checks.iter().flat_map(|check| ["--check", check]).collect::<Vec<_>>();
    let output = dir.truetail(&[&load[..], &data, &checks].concat());
    let run = assert_complete(&dir.path().join("run"));
    output.assert_code(&run, 3);
    let counts: Vec<_> = (0..4).map(|nth| (&run["checks"][nth]["passed"], &run["checks"][nth]["failed"])).collect();
    let count = |passed: u64, failed: u64| (passed.into(), failed.into());
    let wanted: [(serde_json::Value, serde_json::Value); 4] =
        [count(90, 10), count(90, 10), count(0, 100), count(100, 0)];
    assert!(counts.iter().zip(&wanted).all(|(found, wanted)| *found == (&wanted.0, &wanted.1)), "{counts:?}");
    let failed = std::fs::read_to_string(dir.path().join("run/failed-answers.jsonl")).expect("answers failed");
    assert!(failed.contains("it is UNAVAILABLE") && failed.contains("{\\\"name\\\":\\\"a b\\\"}"), "{failed}");
    let output = dir.truetail(&[&load[..], &["--check", "grpc-status == ok"]].concat());
    assert!(output.stderr.contains("'ok' is not a status of gRPC"), "{}", output.stderr);
}

#[test]
fn messages_of_a_streaming_method_are_events_of_streams() {
    let server = Server::start(Some(3));
    let dir = TestDir::new();
    let url = format!("grpc://{}/test.Asker/Many", server.place);
    let load = ["run", &url, "-r", "1000", "-n", "100", "--quiet", "--out", "run", "--proto", proto(&dir)];
    let more =
        ["--data", "{\"name\":\"a\"}", "--check", "jsonpath $[2].name == \"a\"", "--fail-if", "error-rate > 60%"];
    let output = dir.truetail(&[&load[..], &more].concat());
    let run = assert_complete(&dir.path().join("run"));
    assert_balanced(&run);
    // A streaming method is tried without a call.
    assert_eq!(run["grpc"]["statuses"], serde_json::json!({"OK": 90, "UNAVAILABLE": 10}));
    assert_eq!(run["scenario"]["grpc"]["kind"], "server_streaming");
    let stream = &run["stream"];
    assert_eq!((&stream["kind"], &stream["events"]), (&"messages".into(), &270.into()), "{stream}");
    assert_eq!((&stream["tally"]["complete"], &stream["tally"]["server_error"]), (&90.into(), &10.into()), "{stream}");
    assert_eq!(
        (&stream["first_event_time"]["count"], &stream["first_event_time"]["failed"]),
        (&100.into(), &10.into())
    );
    assert_eq!(run["checks"][0]["passed"], 90);
    // A call that failed counts once.
    let gate = run["gates"][0]["message"].as_str().expect("a message");
    assert!(gate.contains("10 %") || gate.contains("10%"), "{gate}");
    assert!(output.stdout.contains("270 messages"), "{}", output.stdout);
}

/// Runs calls of a method that takes a stream, with two messages each.
fn streaming_calls(server: &Server, method: &str, more: &[&str]) -> serde_json::Value {
    let dir = TestDir::new();
    let url = format!("grpc://{}/test.Asker/{method}", server.place);
    let load = ["run", &url, "-r", "1000", "-n", "50", "--quiet", "--out", "run", "--proto", proto(&dir)];
    dir.truetail(&[&load[..], &["--data", r#"[{"name":"ab"},{"count":7}]"#], more].concat());
    let calls = server.calls();
    let two = b"\0\0\0\0\x04\x0a\x02ab\0\0\0\0\x02\x10\x07";
    assert!(calls.len() == 50 && calls.iter().all(|(_, body)| body == two), "{calls:?}");
    let run = assert_complete(&dir.path().join("run"));
    assert_balanced(&run);
    assert_eq!(run["grpc"]["statuses"], serde_json::json!({"OK": 45, "UNAVAILABLE": 5}));
    run
}

#[test]
fn a_call_sends_a_stream_of_messages_and_gets_one_answer() {
    let run = streaming_calls(&Server::start(Some(1)), "Chat", &["--check", "message.name == \"ab\""]);
    assert_eq!(run["scenario"]["grpc"], serde_json::json!({"kind": "client_streaming"}));
    assert_eq!((&run["checks"][0]["passed"], &run["stream"]), (&45.into(), &serde_json::Value::Null));
}

#[test]
fn messages_of_a_call_are_sent_one_gap_after_another() {
    let run = streaming_calls(&Server::start(Some(3)), "Talk", &["--message-gap", "20ms"]);
    assert_eq!(run["scenario"]["grpc"], serde_json::json!({"kind": "bidirectional", "message_gap_ns": 20_000_000}));
    assert_eq!(run["stream"]["events"], 3 * 45);
    // The server answers after the last message, which is due 20 ms after the start of its call.
    let fastest = run["response_time"]["min_ns"].as_u64().expect("a time");
    assert!(fastest >= 20_000_000, "{fastest}");
}

#[test]
fn schemas_are_shown_with_samples_that_can_be_sent() {
    let server = Server::start(Some(1));
    let dir = TestDir::new();
    let file = proto(&dir);
    let shown = |words: &[&str]| dir.truetail(&[&["grpc"], words, &["--proto", file]].concat());
    let listed = shown(&["list", "127.0.0.1:1"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let lines = "test.Asker\n  Ask(test.Question) returns (test.Answer)\n  Many(test.Question) returns (stream test.Answer)\n  \
                 Chat(stream test.Question) returns (test.Answer)\n  Talk(stream test.Question) returns (stream test.Answer)\n";
    assert_eq!((&listed.stdout[..], shown(&["describe", "127.0.0.1:1"]).stdout), (lines, lines.to_owned()));
    let described = shown(&["describe", "127.0.0.1:1", "test.Asker/Ask"]).stdout;
    let sample = described.split("--data '").nth(1).and_then(|rest| rest.split('\'').next()).expect("a sample");
    assert_eq!(sample, "{\"count\":0,\"name\":\"\",\"part\":{\"words\":[\"\"]}}");
    let url = format!("grpc://{}/test.Asker/Ask", server.place);
    let load = ["run", &url, "-r", "100", "-n", "2", "--quiet", "--no-save", "--proto", file, "--data", sample];
    assert_eq!(dir.truetail(&load).code, Some(0));
    let message = shown(&["describe", "127.0.0.1:1", "test.Part"]).stdout;
    assert!(message.starts_with("test.Part\n  repeated string words = 1\n"), "{message}");
    for (words, code, wanted) in [
        (
            &["describe", "127.0.0.1:1", "test.Nothing"][..],
            2,
            "there is no service test.Nothing; the only service is test.Asker",
        ),
        (&["list", "127.0.0.1"], 2, "it has no port"),
        (&["list", "127.0.0.1:1/test.Asker"], 2, "leave the path out"),
        (&["list", "http://127.0.0.1:1"], 2, "write grpc://"),
    ] {
        let output = shown(words);
        assert!(output.code == Some(code) && output.stderr.contains(wanted), "{words:?}: {}", output.stderr);
    }
}
