//! `--otlp-receive` and `report --spans`: spans of a service, and the part of the response time that each explains.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::GzEncoder;
use nix::sys::signal::Signal;
use serde_json::Value;

use super::service::{self, assert_stalled_in};
use super::support::{CommandOutput, TestDir, TestProcess, assert_balanced};

/// A service in two processes: the shop asks the stock. Of each eight requests, one stalls in the part that its path
/// names; in `/queue` it stalls before the service's first span. The spans of each request go to `reports`.
fn serve(reports: Sender<String>) -> String {
    service::serve(move |request, socket| {
        let parent = request.head.iter().find_map(|line| line.strip_prefix("traceparent: 00-"));
        let spend = |part: &str| {
            let begin = (SystemTime::now(), Instant::now());
            request.spend(part);
            begin
        };
        spend("queue");
        let shop = spend("shop");
        let call = spend("call");
        let stock = spend("stock");
        let select = spend("select");
        // The clock of the stock's machine is a day ahead.
        let day = Duration::from_secs(86_400);
        let ended = [shop, call, stock, select].map(|(begin, since)| (begin, begin + since.elapsed()));
        if let Some((trace, rest)) = parent.and_then(|parent| parent.split_once('-')) {
            let ahead = |(begin, end)| (begin + day, end + day);
            let _ = reports.send(message(
                "shop",
                &[span(trace, 1, &rest[..16], "GET", 2, ended[0]), span(trace, 2, &id(trace, 1), "call", 3, ended[1])],
            ));
            let _ = reports.send(message(
                "stock",
                &[
                    span(trace, 3, &id(trace, 2), "GET", 2, ahead(ended[2])),
                    span(trace, 4, &id(trace, 3), "SELECT", 3, ahead(ended[3])),
                ],
            ));
        }
        socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").ok()
    })
}

/// Returns an id that no other trace has.
fn id(trace: &str, nth: u64) -> String {
    let own = u64::from_str_radix(&trace[16..], 16).expect("an id");
    format!("{:016x}", (own.wrapping_mul(31) ^ nth) | 1 << 60)
}

type Interval = (SystemTime, SystemTime);

fn span(trace: &str, nth: u64, parent: &str, name: &str, kind: u8, (begin, end): Interval) -> String {
    let ns = |at: SystemTime| at.duration_since(UNIX_EPOCH).expect("after 1970").as_nanos();
    format!(
        "{{\"traceId\":\"{trace}\",\"spanId\":\"{}\",\"parentSpanId\":\"{parent}\",\"name\":\"{name}\",\"kind\":{kind},\
         \"startTimeUnixNano\":\"{}\",\"endTimeUnixNano\":\"{}\"}}",
        id(trace, nth),
        ns(begin),
        ns(end)
    )
}

fn message(service: &str, spans: &[String]) -> String {
    format!(
        "{{\"resourceSpans\":[{{\"resource\":{{\"attributes\":[{{\"key\":\"service.name\",\"value\":{{\"stringValue\":\
         \"{service}\"}}}}]}},\"scopeSpans\":[{{\"spans\":[{}]}}]}}]}}",
        spans.join(",")
    )
}

/// Sends these bytes, and returns the answer.
fn send(address: &str, bytes: &[u8]) -> String {
    let mut socket = TcpStream::connect(address).expect("a receiver");
    socket.write_all(bytes).expect("it reads");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("an answer");
    answer
}

/// Sends a message, and returns the status of the answer.
fn post(address: &str, path: &str, fields: &str, body: &[u8]) -> u16 {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n{fields}\r\n",
        body.len()
    );
    let answer = send(address, &[head.as_bytes(), body].concat());
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{answer}"))
}

fn post_json(address: &str, body: &str) -> u16 {
    post(address, "/v1/traces", "Content-Type: application/json\r\n", body.as_bytes())
}

/// Starts a run of 400 requests, and returns it with the address of its receiver.
fn start(dir: &TestDir, args: &[&str]) -> (TestProcess, String) {
    start_of("400", dir, args)
}

fn start_of(requests: &str, dir: &TestDir, args: &[&str]) -> (TestProcess, String) {
    let common = ["run", "-r", "100", "-n", requests, "--no-preflight", "--force", "--out", "run", "--trace"];
    let receive = ["--otlp-receive", "127.0.0.1:0"];
    let mut process = TestProcess::start(dir.command(&[&common[..], &receive, args].concat()));
    let line = process.wait_for_stderr("receives spans on http://");
    let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address").to_owned();
    (process, address)
}

fn saved(dir: &TestDir, output: &CommandOutput) -> Value {
    let text = fs::read_to_string(dir.path().join("run/run.json")).unwrap_or_else(|_| panic!("{output:?}"));
    serde_json::from_str(&text).expect("JSON")
}

/// Checks that the screen has these texts, which may be wrapped.
fn assert_says(output: &CommandOutput, texts: &[&str]) {
    let screen = output.stdout.replace("\n  ", " ");
    texts.iter().for_each(|text| assert!(screen.contains(text), "{text} is missing: {screen}"));
}

/// Passes the service's messages on to the receiver as they come: two of each request.
fn forward(address: String, messages: Receiver<String>) -> thread::JoinHandle<()> {
    let send = move |message: String| assert_eq!(post_json(&address, &message), 200, "{message}");
    thread::spawn(move || messages.iter().take(2 * 400).for_each(send))
}

#[test]
fn the_span_that_stalls_is_the_longest_part() {
    let dir = TestDir::new();
    for (path, part) in
        [("stock", "stock/GET"), ("select", "stock/SELECT"), ("shop", "shop/GET"), ("queue", "unattributed")]
    {
        let (reports, messages) = channel();
        let url = serve(reports);
        let (mut process, address) = start(&dir, &[&format!("{url}/{path}"), "--otlp-grace", "10m"]);
        let forwarded = forward(address, messages);
        process.wait_for_stderr("waits 10m for spans");
        forwarded.join().expect("all messages are taken");
        process.signal(Signal::SIGINT);
        let output = process.end();
        let run = saved(&dir, &output);
        assert_balanced(&run);
        let timing = &run["server_timing"];
        assert_eq!((&timing["answers"], &timing["without"]), (&400.into(), &0.into()), "{timing}");
        assert_eq!(
            (&timing["spans"]["received"], &timing["spans"]["used"]),
            (&1_600.into(), &1_600.into()),
            "{timing}"
        );
        assert_stalled_in(part, &run);
        assert!(output.stdout.contains("where the time went"), "{output:?}");
    }
}

/// The receiver of the first test runs beside the load. Here the spans are in a file, as a collector writes it.
#[test]
fn a_file_of_spans_says_the_same_afterwards() {
    let dir = TestDir::new();
    let (reports, messages) = channel();
    let url = format!("{}/call", serve(reports));
    let args = ["run", &url, "-r", "100", "-n", "400", "--no-preflight", "--quiet", "--out", "run", "--trace"];
    let output = dir.truetail(&args);
    let run = saved(&dir, &output);
    assert_eq!((&run["server_timing"], &run["ledger"]), (&Value::Null, &Value::Null));
    let lines: Vec<String> = messages.try_iter().collect();
    assert_eq!(lines.len(), 800);
    dir.file("spans.jsonl", &lines.join("\n"));
    let report = dir.truetail(&["report", "run", "--spans", "spans.jsonl", "--json"]);
    assert_stalled_in("shop/call", &report.json());
    let screen = dir.truetail(&["report", "run", "--spans", "spans.jsonl", "-o", "page.html"]).stdout;
    assert!(screen.contains("where the time went") && screen.contains("shop/call"), "{screen}");
    let page = fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(page.contains("id=\"ledger\"") && page.contains("stock/SELECT"));
    // Half of the spans are missing: the time of their requests is unattributed, and a sentence says so.
    dir.file("half.jsonl", &format!("{}\n{{\"resourceSpans\": [", lines[..400].join("\n")));
    let half = dir.truetail(&["report", "run", "--spans", "half.jsonl"]);
    let says = [
        "200 of 400 answers that asked for a trace have no span",
        "could not be read to their end: 1; the first: message 401: EOF",
    ];
    assert_says(&half, &says);
}

#[test]
fn what_is_no_span_of_the_run_is_refused_or_counted() {
    let dir = TestDir::new();
    let (reports, messages) = channel();
    let url = serve(reports);
    let (mut process, address) = start(&dir, &[&url, "--otlp-grace", "1m"]);
    let message = messages.recv().expect("a message");
    let json = "Content-Type: application/json; charset=utf-8\r\n";
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(message.as_bytes()).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let bomb = {
        let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
        bomb.write_all(&vec![b' '; 64 << 20]).expect("memory");
        bomb.finish().expect("memory")
    };
    // A container sends to a name that only it knows. The answer says what helps.
    let by_name = send(
        &address,
        b"POST /v1/traces HTTP/1.1\r\nHost: host.docker.internal:4318\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    assert!(by_name.contains(" 403 ") && by_name.contains("use its IP address"), "{by_name}");
    // An SDK that is set to gRPC.
    assert!(send(&address, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").starts_with("HTTP/1.1 505 "));
    let zipped = format!("{json}Content-Encoding: gzip\r\n");
    for (path, fields, body, status) in [
        ("/v1/traces", &*zipped, gzip.as_slice(), 200),
        ("/v1/traces", &zipped, &bomb, 413),
        ("/v1/traces", &zipped, message.as_bytes(), 400),
        ("/v1/traces", json, b"{}", 400),
        ("/v1/traces", "Content-Type: application/x-protobuf\r\n", b"\x0a\x7f", 400),
        ("/v1/traces", "Content-Type: application/x-protobuf\r\n", b"", 200),
        ("/v1/traces", "Content-Type: text/plain\r\n", b"", 415),
        ("/v1/traces", &format!("{json}Content-Encoding: br\r\n"), b"", 415),
        ("/v1/traces", &format!("{json}Origin: http://evil.example\r\n"), b"", 403),
        ("/v1/metrics", json, b"{}", 404),
    ] {
        assert_eq!(post(&address, path, fields, body), status, "{path} {fields}");
    }
    let foreign =
        "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"0102030405060708090a0b0c0d0e0f10\"}]}]}]}";
    assert_eq!(post_json(&address, foreign), 200);
    // Ctrl-C ends the wait for more spans, and the run is reported as a whole one.
    process.wait_for_stderr("waits 1m for spans");
    process.signal(Signal::SIGINT);
    let output = process.end();
    let run = saved(&dir, &output);
    assert_eq!((&run["tally"]["responses"], &run["interrupted"]), (&400.into(), &false.into()), "{output:?}");
    let spans = &run["server_timing"]["spans"];
    assert_eq!((&spans["received"], &spans["used"], &spans["foreign"]), (&3.into(), &2.into(), &1.into()), "{spans}");
    // Two could not be read, and seven were refused; metrics are no messages with spans.
    assert_eq!((&spans["unread"], &run["server_timing"]["answers"]), (&9.into(), &1.into()), "{spans}");
    assert_says(
        &output,
        &["refused or could not be read to their end: 9; the first: 403, the name in Host is another one"],
    );
    let says = ["399 of 400 answers that asked for a trace have no span", "1 of traces that this run did not start"];
    assert_says(&output, &says);
}

/// A first Ctrl-C ends the load, and SDKs still have spans to send. A second one ends the wait for them.
#[test]
fn the_ctrl_c_that_ends_the_load_does_not_end_the_wait() {
    let dir = TestDir::new();
    let (reports, messages) = channel();
    let url = serve(reports);
    let (mut process, address) = start_of("100000", &dir, &[&url, "--otlp-grace", "10m"]);
    let message = messages.recv().expect("a message");
    process.signal(Signal::SIGINT);
    process.wait_for_stderr("waits 10m for spans (--otlp-grace); Ctrl-C ends the wait");
    assert_eq!(post_json(&address, &message), 200);
    process.signal(Signal::SIGINT);
    let output = process.end();
    let run = saved(&dir, &output);
    assert_balanced(&run);
    assert_eq!(run["interrupted"], true, "{output:?}");
    assert_eq!(run["server_timing"]["spans"]["used"], 2, "{output:?}");
}

/// The last read of a service's metrics is at the end of the load, not after the wait for spans.
#[test]
fn nothing_else_waits_for_spans() {
    let dir = TestDir::new();
    let reads = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&reads);
    let url = service::serve(move |request, socket| {
        if request.path() == "/metrics" {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n# TYPE jobs counter\njobs 1\n").ok()
    });
    let (mut process, _) = start(&dir, &[&url, "--otlp-grace", "10m", "--scrape", &format!("{url}/metrics")]);
    process.wait_for_stderr("waits 10m for spans");
    let before = reads.load(Ordering::SeqCst);
    process.signal(Signal::SIGINT);
    let output = process.end();
    let run = saved(&dir, &output);
    assert!(before >= 2, "{before}");
    assert_eq!(reads.load(Ordering::SeqCst), before);
    assert_eq!(run["scrapes"][0]["reads"].as_u64(), Some(u64::from(before)), "{}", run["scrapes"]);
}

#[test]
fn what_is_wrong_with_it_is_one_line() {
    let dir = TestDir::new();
    let url = "http://127.0.0.1:9/";
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    for (args, code, says) in [
        (vec!["run", url, "--otlp-receive", "127.0.0.1:0"], 2, "--trace"),
        (vec!["run", url, "--trace", "--otlp-receive", "here"], 2, "write ADDRESS:PORT"),
        (vec!["run", url, "--trace", "--otlp-grace", "1s"], 2, "--otlp-receive"),
        (vec!["run", url, "--trace", "--server-timing", "--otlp-receive", "127.0.0.1:0"], 2, "--server-timing"),
        (vec!["run", url, "--trace", "--otlp-receive", &taken], 1, "choose another port"),
    ] {
        let output = dir.truetail(&[args.as_slice(), &["-r", "5"]].concat());
        assert_eq!(output.code, Some(code), "{output:?}");
        assert!(output.stderr.contains(says) && output.stderr.lines().count() == 1, "{output:?}");
    }
    let (reports, _messages) = channel();
    let url = serve(reports);
    dir.truetail(&["run", &url, "-n", "5", "-r", "100", "--quiet", "--out", "plain"]);
    dir.truetail(&["run", &url, "-n", "5", "-r", "100", "--quiet", "--out", "traced", "--trace"]);
    dir.file("none.json", "{\"spans\": 1}");
    for (run, file, code, says) in [
        ("plain", "none.json", 2, "make a run with --trace"),
        ("traced", "none.json", 1, "it has no \"resourceSpans\""),
        ("traced", "missing.json", 1, "No such file"),
        ("traced", ".", 1, "give a regular file"),
    ] {
        let output = dir.truetail(&["report", run, "--spans", file]);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{output:?}");
        assert!(output.stderr.contains(says) && output.stdout.is_empty(), "{output:?}");
    }
}
