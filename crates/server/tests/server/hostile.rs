//! Malicious clients harm only themselves.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use truetail_model::service::{Fault, Selector, Service};
use truetail_model::time::Nanos;
use truetail_server::{Ending, Server, ServerOptions};

use crate::support::{Client, End, catch_up, endings, faulty, get, options, start, stop_and_check};

#[test]
fn a_head_that_never_ends_in_time() {
    let service = faulty(vec![]);
    let head_timeout = Nanos::from_millis(100);
    let server = Server::start(ServerOptions { head_timeout, ..options(service.clone()) }).unwrap();
    let mut slow = Client::connect(&server);
    let answer = slow.ask("GET /api HTTP/1.1\r\nX-Slow: ");
    assert_eq!(answer.status, 408);
    assert_eq!(slow.until_end().1, End::Closed);
    // A connection that is idle between requests has no time limit.
    let mut idle = Client::connect(&server);
    idle.ask(get("/api"));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(idle.ask(get("/api")).status, 200);
    assert_eq!(stop_and_check(server, &service).totals.refused, 1);
}

/// Each head in pieces has its own time limit, even if many of them take longer together.
#[test]
fn many_heads_in_pieces() {
    let service = faulty(vec![]);
    let head_timeout = Nanos::from_millis(1500);
    let server = Server::start(ServerOptions { head_timeout, ..options(service.clone()) }).unwrap();
    let mut client = Client::connect(&server);
    let text = get("/api");
    let (first, second) = text.split_at(10);
    client.send(first);
    for _ in 0..25 {
        std::thread::sleep(Duration::from_millis(70));
        assert_eq!(client.ask([second, first].concat()).status, 200);
    }
    stop_and_check(server, &service);
}

#[test]
fn a_head_without_end() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    for start in ["GET /api HTTP/1.1\r\nX: ", "GET /"] {
        let mut client = Client::connect(&server);
        client.send(start);
        client.send("x".repeat(40_000));
        assert_eq!(client.answer().status, 431);
        assert_eq!(client.until_end().1, End::Closed);
    }
    assert_eq!(stop_and_check(server, &service).totals.refused, 2);
}

/// Writes requests until the server and the system accept no more, or until `limit` bytes.
fn stuff(client: &mut Client, limit: usize) -> usize {
    let text = get("/api").repeat(1000);
    let mut written = 0;
    socket2::SockRef::from(&client.stream).set_send_buffer_size(64 * 1024).unwrap();
    client.stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    while written < limit {
        match client.stream.write(&text.as_bytes()[written % text.len()..]) {
            Ok(length) => written += length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    written
}

/// The system's own buffers take some megabytes; the server's memory must not hold more than a few hundred requests.
#[test]
fn endless_requests_of_one_who_does_not_read() {
    const LIMIT: usize = 256 << 20;
    let service = Service { body_bytes: 1000, ..Service::healthy(Nanos::ZERO) };
    let server = start(service.clone());
    let mut greedy = Client::connect(&server);
    let written = stuff(&mut greedy, LIMIT);
    assert!(written < LIMIT, "the server reads without end");
    assert!(server.admitted() < (written / get("/api").len()) as u64, "it has stopped reading");
    catch_up(&server);
    // The client now reads, and all its requests are answered.
    for _ in 0..written / get("/api").len() {
        assert_eq!(greedy.answer().status, 200);
    }
    drop(greedy);
    catch_up(&server);
    stop_and_check(server, &service);
}

#[test]
fn endless_requests_into_a_black_hole() {
    const LIMIT: usize = 256 << 20;
    let service = faulty(vec![Fault::BlackHole { select: Selector::default() }]);
    let server = start(service.clone());
    let mut greedy = Client::connect(&server);
    assert!(stuff(&mut greedy, LIMIT) < LIMIT, "the server reads without end");
    assert!(server.admitted() < 1000);
    catch_up(&server);
    let truth = stop_and_check(server, &service);
    assert!(endings(&truth).iter().all(|ending| *ending == Ending::BlackHole));
}

#[test]
fn a_body_without_end_does_not_keep_others_waiting() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    let mut endless = Client::connect(&server);
    endless.send("POST /api HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFF\r\n");
    for _ in 0..20 {
        endless.send(vec![b'x'; 1 << 20]);
        catch_up(&server);
    }
    let truth = stop_and_check(server, &service);
    assert_eq!(endings(&truth), [Ending::Held]);
}
