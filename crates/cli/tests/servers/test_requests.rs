//! Requests that the servers get, and the expected status of each.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::support::TestDir;

struct TestRequest {
    method: &'static str,
    path: &'static str,
    /// More lines in the file of targets: a header, or the file with the body.
    more: &'static str,
    status: u16,
}

impl TestRequest {
    const fn new(method: &'static str, path: &'static str, status: u16) -> TestRequest {
        TestRequest { method, path, more: "", status }
    }

    const fn with(mut self, more: &'static str) -> TestRequest {
        self.more = more;
        self
    }
}

/// Bodies with a length, in chunks and empty, and statuses of every class.
const TEST_REQUESTS: &[TestRequest] = &[
    TestRequest::new("GET", "/sized", 200),
    TestRequest::new("GET", "/large", 200),
    TestRequest::new("HEAD", "/large", 200),
    TestRequest::new("GET", "/chunked", 200).with("Accept-Encoding: gzip"),
    TestRequest::new("POST", "/posted", 201).with("@posted.txt"),
    TestRequest::new("GET", "/empty", 204),
    TestRequest::new("GET", "/moved", 302),
    TestRequest::new("GET", "/same", 304).with("If-None-Match: *"),
    TestRequest::new("GET", "/missing", 404),
    TestRequest::new("GET", "/broken", 500),
];

/// Length of `/large`: more than a socket delivers at once.
pub const LARGE: usize = 200_000;

/// Writes a file of targets with one request of each kind, and the body that it needs. Returns its name.
pub fn write_targets<'a>(dir: &TestDir, name: &'a str, origin: &str) -> &'a str {
    dir.file("posted.txt", &"a line that somebody posts\n".repeat(1000));
    let target = |request: &TestRequest| format!("{} {origin}{}\n{}\n\n", request.method, request.path, request.more);
    dir.file(name, &TEST_REQUESTS.iter().map(target).collect::<String>())
}

/// Returns the head of the answer to `GET PATH`, in lower case, from an origin without TLS.
fn head_of(origin: &str, path: &str) -> String {
    let address = origin.strip_prefix("http://").expect("no TLS");
    let mut stream = TcpStream::connect(address).expect("it listens");
    let ask = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n");
    stream.write_all(ask.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
    String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase()
}

/// Checks that the server uses each kind of framing.
pub fn check_framing(origin: &str) {
    for (path, framing) in
        [("/chunked", "transfer-encoding: chunked"), ("/large", "content-length: "), ("/sized", "content-length: ")]
    {
        let head = head_of(origin, path);
        assert!(head.contains(framing), "{path}: {head}");
    }
}

/// A line of a server's own log: `METHOD PATH STATUS CLIENT-PORT`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logged {
    pub method: String,
    pub path: String,
    pub status: u16,
    /// Identifies the connection, as long as no port is reused.
    pub client_port: u16,
}

impl Logged {
    pub fn read(line: &str) -> Logged {
        let mut words = line.split(' ');
        let mut next = || words.next().unwrap_or_else(|| panic!("{line:?}"));
        let method = next().to_owned();
        let path = next().to_owned();
        let mut number = || next().parse().unwrap_or_else(|error| panic!("{error} in {line:?}"));
        Logged { method, path, status: number(), client_port: number() }
    }
}

/// Checks that every arrival was answered with the expected status, in the run and in the server's log.
pub fn check(run: &Value, log: &[Logged]) {
    assert_eq!(run["tally"]["responses"], run["tally"]["planned"], "{} {}", run["tally"], run["causes"]);
    check_answers(run, log);
}

/// Checks that every answer has the expected status, in the run and in the server's log.
pub fn check_answers(run: &Value, log: &[Logged]) {
    let by_target = run["by_target"].as_array().expect("books of each target");
    assert_eq!(by_target.len(), TEST_REQUESTS.len());
    for (request, books) in TEST_REQUESTS.iter().zip(by_target) {
        let named = format!("{} {}", request.method, request.path);
        let statuses: BTreeMap<u16, u64> = serde_json::from_value(books["statuses"].clone()).expect("statuses");
        let seen = log.iter().filter(|line| line.method == request.method && line.path == request.path);
        let mut seen_statuses = BTreeMap::new();
        seen.for_each(|line| *seen_statuses.entry(line.status).or_insert(0) += 1);
        assert_eq!(statuses, seen_statuses, "{named}, as it was seen by truetail and by the server");
        assert_eq!(statuses.keys().collect::<Vec<_>>(), [&request.status], "{named}");
    }
    assert_eq!(run["tally"]["responses"], log.len(), "and nothing else was asked");
}
