//! `truetail run --http2`, from the flags to the report.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::raw_server::{RawServer, serve_each};
use super::support::{TestDir, assert_balanced, assert_complete};

/// Starts an HTTP/2 server that answers each request with 200 and allows `streams` at once. Returns its URL.
pub fn serve(streams: u8) -> String {
    let place = serve_each(move |socket| answer_all(socket, streams));
    let url = format!("http://{place}/");
    url
}

fn answer_all(mut socket: TcpStream, streams: u8) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    socket.read_exact(&mut [0; 24]).ok()?;
    // Settings with SETTINGS_MAX_CONCURRENT_STREAMS (3).
    socket.write_all(&[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, streams]).ok()?;
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        socket.read_exact(&mut payload).ok()?;
        // Last frame of a request: its data or its fields.
        if kind <= 1 && flags & 1 == 1 {
            let answer = [&[0, 0, 1, 1, 4][..], &stream, &[0x88, 0, 0, 2, 0, 1], &stream, b"ok"].concat();
            socket.write_all(&answer).ok()?;
        }
    }
}

#[test]
fn many_requests_on_one_connection_or_as_many_as_asked_for() {
    let url = serve(7);
    let dir = TestDir::new();
    let run = |more: &[&str]| {
        let load = ["run", &url, "-r", "500", "-n", "60", "--http2", "--quiet", "--force", "--out", "run"];
        let output = dir.truetail(&[&load[..], more].concat());
        let run = assert_complete(&dir.path().join("run"));
        output.assert_code(&run, 0);
        (run, output.stdout)
    };
    let (one, _) = run(&[]);
    assert_balanced(&one);
    assert_eq!((&one["statuses"]["200"], &one["generator"]["connections_opened"]), (&60.into(), &1.into()));
    assert_eq!(
        (&one["scenario"]["connections"], &one["generator"]["streams"]["allowed"]),
        (&serde_json::Value::Null, &7.into())
    );
    assert!(one["scenario"]["http2"].is_object() && one["generator"]["streams"]["peak"].as_u64() > Some(0));
    let (three, _) = run(&["-c", "3", "--max-streams", "2"]);
    assert_eq!((&three["statuses"]["200"], &three["generator"]["connections_opened"]), (&60.into(), &3.into()));
    assert_eq!(three["scenario"]["http2"]["max_streams"], 2);
    // Joined, because lines wrap at the width of the terminal.
    let text = run(&["--details"]).1.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(", HTTP/2") && text.contains("the server allows 7 per connection"), "{text}");
}

#[test]
fn a_server_without_it_is_told_in_a_line() {
    let server = RawServer::start(Some("HTTP/1.1 400 Bad Request\r\n\r\n"), "");
    let dir = TestDir::new();
    let output = dir.truetail(&["run", &server.url, "-r", "1", "--http2"]);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
    assert!(output.stderr.contains("did not answer in HTTP/2"), "{output:?}");
}

#[test]
fn a_server_that_speaks_it_alone_is_told_in_a_line() {
    let url = serve(7);
    let dir = TestDir::new();
    let output = dir.truetail(&["run", &url, "-r", "1"]);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
    assert!(
        output.stderr.contains("did not answer in HTTP/1.1") && output.stderr.contains("add --http2"),
        "{output:?}"
    );
}
