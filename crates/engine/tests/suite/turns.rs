//! Tests that a worker keeps its schedule, ends with the run and stops on request, no matter what servers send.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use truetail_engine::{Control, HttpVersion, Plan};
use truetail_model::time::Nanos;

use crate::origins::mixed;
use crate::support::raw_http2::{DATA, HEADERS, PING, SETTINGS, frame};
use crate::support::{Act, Puppet, TIMEOUT, ok, open, run, run_with};

/// Limit on the time from the end of the drain to the end of the run. The worker needs 0.1 s of processor time, and a
/// busy machine gives it a tenth of one processor. Reading everything that is available would take minutes.
const SLACK: Nanos = Nanos::from_secs(10);

/// Sends `first` on each connection after a request, and then `again` without end.
fn endless(first: Vec<u8>, again: &[u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let again = again.repeat(65_536 / again.len());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let first = first.clone();
            let again = again.clone();
            thread::spawn(move || send_endlessly(stream, &first, &again));
        }
    });
    address
}

fn send_endlessly(mut stream: TcpStream, first: &[u8], again: &[u8]) {
    if stream.read(&mut [0; 65_536]).is_ok_and(|n| n > 0) && stream.write_all(first).is_ok() {
        while stream.write_all(again).is_ok() {}
    }
}

/// Servers whose bytes cost most, because each read contains many pieces.
fn costly() -> [(&'static str, HttpVersion, SocketAddr); 4] {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let body = [frame(SETTINGS, 0, 0, &[]), frame(HEADERS, 4, 1, &[0x88])].concat();
    [
        ("chunks", HttpVersion::Http1, endless(chunked, b"1\r\nx\r\n")),
        ("a body", HttpVersion::Http1, endless(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), b"x")),
        ("frames", HttpVersion::Http2, endless(body, &frame(DATA, 0, 1, b"x"))),
        ("pings", HttpVersion::Http2, endless(frame(SETTINGS, 0, 0, &[]), &frame(PING, 0, 0, &[7; 8]))),
    ]
}

fn plan_for(version: HttpVersion, address: SocketAddr, requests: u64) -> Plan {
    let mut plan = open(&format!("http://{address}/"), 200.0, requests);
    if version == HttpVersion::Http2 {
        plan.target.use_http2().unwrap();
    }
    plan.workload.limits.timeout = Some(Nanos::from_millis(300));
    plan.workload.limits.drain = Nanos::from_millis(200);
    plan
}

#[test]
fn a_run_ends_with_its_drain_whatever_arrives() {
    for (what, version, address) in costly() {
        let measured = run(&plan_for(version, address, 200));
        let tally = measured.snapshot.tally;
        assert_eq!((tally.planned, tally.responses), (200, 0), "{what}: {tally:?}");
        assert!(measured.elapsed < Nanos::from_millis(1_200) + SLACK, "{what}: {}", measured.elapsed);
    }
}

#[test]
fn a_run_stops_when_it_is_told_to_whatever_arrives() {
    for (what, version, address) in costly() {
        let control = Control::new();
        let watched = control.clone();
        let stops = thread::spawn(move || {
            while watched.progress().issued < 50 {
                thread::yield_now();
            }
            watched.stop_now();
            watched.elapsed().unwrap()
        });
        let measured = run_with(&plan_for(version, address, 200_000), &control);
        let stopped = stops.join().unwrap();
        assert!(measured.elapsed < stopped + SLACK, "{what}: {} after {stopped}", measured.elapsed);
        assert!(measured.cut_short, "{what}");
    }
}

/// One server answers and its connections are opened, while the other server sends without end.
#[test]
fn an_endless_answer_starves_nobody_else() {
    let endless = endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(), b"1\r\nx\r\n");
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let url = format!("http://{endless}/");
    let mut plan = open(&url, 200.0, 400);
    plan.target = mixed(&[(&url, 1), (&puppet.url(), 1)]);
    plan.workload.limits.timeout = Some(TIMEOUT);
    plan.workload.limits.drain = TIMEOUT;
    let measured = run(&plan);
    let tally = measured.snapshot.tally;
    assert!(tally.planned == 400 && tally.responses <= puppet.seen(), "{tally:?}");
    // About half of all requests go there, by chance. A build without optimization has time for most of them.
    assert!(tally.responses > 50, "{tally:?}");
}
