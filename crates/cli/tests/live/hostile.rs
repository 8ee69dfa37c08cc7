//! Hostile or broken clients of the live page must not affect the run or its end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::LiveRun;
use crate::client::{connect, events};
use crate::support::{assert_balanced, assert_complete};

/// Sends a request, and reads at most a part of the answer.
fn stuck(live: &LiveRun, request: &[u8], read: usize) -> TcpStream {
    let mut stream = connect(live.address).expect("a connection");
    let _ = stream.write_all(request);
    let _ = stream.read_exact(&mut vec![0; read]);
    stream
}

#[test]
fn slow_readers_garbage_and_a_thousand_connections() {
    let live = LiveRun::start("6s", &["--quiet"]);
    let host = format!("Host: {}\r\n\r\n", live.address);
    let mut held = Vec::new();
    for path in ["/", "/events", "/metrics"] {
        let request = format!("GET {path} HTTP/1.1\r\n{host}");
        // One client never reads, and one stops after a few bytes.
        held.push(stuck(&live, request.as_bytes(), 0));
        held.push(stuck(&live, request.as_bytes(), 20));
    }
    held.push(stuck(&live, &[0xff; 4096], 0));
    held.push(stuck(&live, b"GET / HTTP/1.1\r\nHost:", 0));
    held.push(stuck(&live, &b"X: y\r\n".repeat(10_000), 0));
    let files = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit").1;
    setrlimit(Resource::RLIMIT_NOFILE, files, files).expect("up to the hard limit");
    for _ in 0..1000 {
        // Some connections are refused, and closed at once.
        if let Ok(stream) = TcpStream::connect_timeout(&live.address, Duration::from_secs(30)) {
            held.push(stream);
        }
    }
    let folder = live.folder();
    let output = live.process.end();
    let run = assert_complete(&folder);
    output.assert_code(&run, 0);
    assert_balanced(&run);
    assert_eq!((&run["tally"]["planned"], &run["tally"]["responses"]), (&1200.into(), &1200.into()));
    drop(held);
}

#[test]
fn a_client_that_stops_reading_events_does_not_keep_them_from_others() {
    let live = LiveRun::start("4s", &[]);
    let request = format!("GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", live.address);
    let held: Vec<TcpStream> = (0..20).map(|_| stuck(&live, request.as_bytes(), 0)).collect();
    let address = live.address;
    let watcher = thread::spawn(move || events(address).map(|(name, _)| name).collect::<Vec<_>>());
    live.process.end();
    let names = watcher.join().expect("a watcher");
    assert_eq!(names.last().map(String::as_str), Some("end"), "{names:?}");
    assert!(names.len() > 1);
    drop(held);
}
