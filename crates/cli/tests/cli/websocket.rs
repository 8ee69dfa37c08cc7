//! `truetail run ws://…`, against a server that uses another implementation of WebSocket.

use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::{Message, WebSocket};

use super::raw_server::{RawServer, serve_each};
use super::support::{TestDir, assert_balanced, assert_complete};

/// An echo that counts what it sees.
struct Echo {
    place: String,
    messages: Arc<AtomicU64>,
    channels: Arc<AtomicU64>,
    /// Heads of the handshakes: path and headers.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Echo {
    /// Starts a server that closes each channel with code 1001 after this many messages, and pings before each reply.
    fn start(most: u64) -> Echo {
        let echo =
            Echo { place: String::new(), messages: Arc::default(), channels: Arc::default(), asked: Arc::default() };
        let messages = Arc::clone(&echo.messages);
        let channels = Arc::clone(&echo.channels);
        let asked = Arc::clone(&echo.asked);
        let place = serve_each(move |socket| {
            #[expect(clippy::result_large_err, reason = "tungstenite's own type")]
            let note = |request: &Request, mut response: Response| {
                asked.lock().expect("a list").push(format!("{} {:?}", request.uri(), request.headers()));
                let wanted = request.headers().get("sec-websocket-protocol").is_some();
                if wanted {
                    let chosen = "chat".parse().expect("a value");
                    response.headers_mut().insert("sec-websocket-protocol", chosen);
                }
                Ok::<Response, ErrorResponse>(response)
            };
            // A preflight opens a channel too, and sends no message on it.
            let mut channel = tungstenite::accept_hdr(socket, note).ok()?;
            serve(&mut channel, &messages, &channels, most)
        });
        Echo { place, ..echo }
    }

    fn url(&self) -> String {
        format!("ws://{}/chat?room=1", self.place)
    }

    fn seen(&self) -> u64 {
        self.messages.load(Ordering::SeqCst)
    }
}

fn serve(channel: &mut WebSocket<TcpStream>, messages: &AtomicU64, channels: &AtomicU64, most: u64) -> Option<()> {
    let mut count = 0;
    loop {
        let message = channel.read().ok()?;
        if !(message.is_text() || message.is_binary()) {
            continue;
        }
        if count == 0 {
            channels.fetch_add(1, Ordering::SeqCst);
        }
        count += 1;
        messages.fetch_add(1, Ordering::SeqCst);
        channel.write(Message::Ping(vec![1, 2, 3].into())).ok()?;
        channel.send(message).ok()?;
        if count == most {
            let code = tungstenite::protocol::frame::coding::CloseCode::Away;
            let reason = tungstenite::protocol::CloseFrame { code, reason: "tired".into() };
            channel.close(Some(reason)).ok()?;
            // What the client sent before it saw the end of the channel has no reply.
            while channel.read().is_ok() {}
            return None;
        }
    }
}

fn run(dir: &TestDir, url: &str, more: &[&str]) -> (serde_json::Value, String) {
    let load = ["run", url, "-r", "500", "-n", "200", "-c", "4", "--quiet", "--force", "--out", "run"];
    let output = dir.truetail(&[&load[..], more].concat());
    let run = assert_complete(&dir.path().join("run"));
    output.assert_code(&run, 0);
    assert_balanced(&run);
    (run, output.stdout)
}

#[test]
fn messages_are_echoed_and_counted() {
    let echo = Echo::start(u64::MAX);
    let dir = TestDir::new();
    let protocol = "Sec-WebSocket-Protocol: chat, talk";
    let more = ["--data", "{\"id\":{{seq}},\"é\":1}", "--match", "json:/id", "-H", protocol, "-H", "X-Token: t"];
    let (run, _) = run(&dir, &echo.url(), &more);
    assert_eq!((run["tally"]["responses"].as_u64(), echo.seen()), (Some(200), 200));
    assert_eq!((echo.channels.load(Ordering::SeqCst), &run["connect_time"]["count"]), (4, &4.into()));
    assert_eq!((&run["messages"]["unmatched"], &run["messages"]["channels_lost"]), (&0.into(), &0.into()));
    assert_eq!(run["scenario"]["messages"]["framing"], "websocket");
    let asked = echo.asked.lock().expect("a list").join("\n");
    assert!(asked.contains("/chat?room=1") && asked.contains("\"x-token\": \"t\""), "{asked}");
}

/// Every channel is open before the first message, also one that no message needs.
#[test]
fn channels_are_opened_before_the_load() {
    let echo = Echo::start(u64::MAX);
    let dir = TestDir::new();
    let load = ["run", &echo.url(), "-r", "500", "-n", "5", "-c", "20", "--data", "x", "--quiet", "--out", "run"];
    let output = dir.truetail(&load);
    let run = assert_complete(&dir.path().join("run"));
    output.assert_code(&run, 0);
    assert_balanced(&run);
    assert_eq!((&run["tally"]["responses"], &run["messages"]["channels_opened_before"]), (&5.into(), &20.into()));
    assert_eq!((&run["connect_time"]["count"], &run["connection_wait"]["max_ns"]), (&20.into(), &0.into()));
    assert_eq!(run["generator"]["connections_opened"], 20);
    // The preflight opened one more.
    assert_eq!(echo.asked.lock().expect("a list").len(), 21);
    let samples = std::fs::read_to_string(dir.path().join("run/samples.csv")).expect("a file");
    let mut rows = samples.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(','));
    let place = rows.next().expect("names").position(|name| name == "connect_ns").expect("a column");
    let connecting: Vec<_> = rows.filter_map(|mut row| row.nth(place)).collect();
    assert_eq!(connecting, ["0"; 5], "{samples}");
    assert!(output.stdout.contains("Time spent") && !output.stdout.contains("connecting"), "{}", output.stdout);
    // More channels than messages are no contradiction in a saved run.
    let again = dir.truetail(&["report", "run", "--json"]).json();
    assert_eq!(again["connect_time"], run["connect_time"]);
}

#[test]
fn binary_messages_and_checks() {
    let echo = Echo::start(u64::MAX);
    let dir = TestDir::new();
    let (run, _) = run(&dir, &echo.url(), &["--data-hex", "00ff7a7a", "--check", "body contains \"zz\""]);
    assert_eq!((run["checks"][0]["passed"].as_u64(), echo.seen()), (Some(200), 200));
    assert_eq!(run["scenario"]["messages"]["framing"], "websocket-binary");
}

#[test]
fn a_channel_that_the_server_closes_is_opened_again() {
    let echo = Echo::start(10);
    let dir = TestDir::new();
    let output = dir.truetail(&[
        "run",
        &echo.url(),
        "-r",
        "200",
        "-n",
        "100",
        "-c",
        "2",
        "--data",
        "x",
        "--quiet",
        "--out",
        "run",
    ]);
    let run = assert_complete(&dir.path().join("run"));
    assert_balanced(&run);
    let answered = run["tally"]["responses"].as_u64().expect("a count");
    let reset = run["tally"]["reset"].as_u64().expect("a count");
    assert_eq!(answered + reset, 100, "{output:?}");
    // A message that the server had read was answered, and a close is counted once for each channel.
    assert_eq!(echo.seen(), answered);
    let closed = run["messages"]["close_codes"]["1001"].as_u64().expect("a code");
    assert_eq!(Some(closed), run["messages"]["channels_lost"].as_u64());
    assert!(closed >= answered / 10 - 1 && closed <= answered / 10, "{closed} of {answered}");
    assert!(echo.channels.load(Ordering::SeqCst) >= 10, "{output:?}");
}

#[test]
fn what_is_no_websocket_is_told_in_a_line() {
    let page = RawServer::start(Some("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), "\r\n\r\n");
    let url = page.url.replace("http", "ws");
    let dir = TestDir::new();
    let output = dir.truetail(&["run", &url, "-r", "10", "-n", "2", "--data", "x"]);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(1), 1), "{output:?}");
    let said = "the server did not switch to WebSocket: HTTP/1.1 404 Not Found; check the path";
    assert!(output.stderr.contains(said), "{output:?}");
    let output =
        dir.truetail(&["run", &url, "-r", "10", "-n", "2", "--data", "x", "--no-preflight", "--quiet", "--out", "run"]);
    let run = assert_complete(&dir.path().join("run"));
    assert_eq!(
        (&run["tally"]["connect_failed"], &run["causes"]["no_web_socket"]),
        (&2.into(), &2.into()),
        "{output:?}"
    );
    for (more, part) in [
        (&["--framing", "line", "--data", "x"][..], "--framing is for tcp://"),
        (&["--data", "x", "-H", "Upgrade: h2c"], "the header 'Upgrade' cannot be sent"),
        (&["--command", "GET x"], "--command is for redis://"),
        (&["--data", "x", "--http2", "-H", "TE: gzip"], "the header 'TE' cannot be sent: HTTP/2 does not allow it"),
    ] {
        let output = dir.truetail(&[&["run", &url, "-r", "10", "-n", "2"][..], more].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{more:?}: {output:?}");
        assert!(output.stderr.contains(part), "{more:?}: {output:?}");
    }
}
