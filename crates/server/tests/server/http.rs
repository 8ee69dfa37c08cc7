//! HTTP/1.1 and 1.0, as various clients use it.

use truetail_model::service::Service;
use truetail_model::time::Nanos;
use truetail_server::{Ending, Server};

use crate::support::{Client, End, FOR_EVER, catch_up, endings, faulty, get, stall, start, stop_and_check};

fn plain() -> (Server, Service) {
    let service = Service { body_bytes: 5, ..faulty(vec![]) };
    (start(service.clone()), service)
}

#[test]
fn a_connection_is_used_again() {
    let (server, service) = plain();
    let mut client = Client::connect(&server);
    for _ in 0..50 {
        let answer = client.ask(get("/api"));
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"okoko"[..]));
        assert_eq!(answer.field("Connection"), Some("keep-alive"));
    }
    assert_eq!(stop_and_check(server, &service).totals.count(Ending::Answered), 50);
}

#[test]
fn a_connection_is_closed_when_asked() {
    for text in [
        "GET /api HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET /api HTTP/1.0\r\n\r\n",
        "GET /healthy HTTP/1.0\r\n\r\n",
        "POST /clock HTTP/1.1\r\nConnection: close\r\n\r\n",
        // Bytes after the last request are ignored.
        "GET /api HTTP/1.0\r\n\r\nGET /api HTTP/1.0\r\n\r\n and more",
    ] {
        let (server, service) = plain();
        let mut client = Client::connect(&server);
        let answer = client.ask(text);
        assert!(answer.status == 200 || answer.status == 204, "{answer:?}");
        assert_eq!(answer.field("Connection"), Some("close"), "{text:?}");
        assert_eq!(client.until_end(), (vec![], End::Closed), "{text:?}");
        assert!(stop_and_check(server, &service).rows.len() <= 1);
    }
}

#[test]
fn http_1_0_may_keep_its_connection() {
    let (server, service) = plain();
    let mut client = Client::connect(&server);
    for _ in 0..2 {
        let answer = client.ask("GET /api HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
        assert_eq!((answer.status, answer.field("Connection")), (200, Some("keep-alive")));
    }
    stop_and_check(server, &service);
}

#[test]
fn head_gets_no_body() {
    let (server, service) = plain();
    let mut client = Client::connect(&server);
    client.send("HEAD /api HTTP/1.1\r\n\r\n");
    client.send(get("/api"));
    let answer = client.answer_to_head();
    assert_eq!((answer.status, answer.field("Content-Length")), (200, Some("5")));
    assert_eq!(client.answer().body, b"okoko");
    stop_and_check(server, &service);
}

#[test]
fn bodies_of_requests_are_read_and_thrown_away() {
    let (server, service) = plain();
    let mut client = Client::connect(&server);
    client.send(format!("POST /api HTTP/1.1\r\nContent-Length: 300000\r\n\r\n{}", "x".repeat(300_000)));
    client.send("PUT /api HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nGET /\r\n0\r\nTrailer: 1\r\n\r\n");
    client.send("POST /healthy HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
    client.send(get("/api"));
    for _ in 0..4 {
        assert_eq!(client.answer().status, 200);
    }
    assert_eq!(stop_and_check(server, &service).rows.len(), 3);
}

/// A request arrives with its head, but its answer does not leave before its body was read.
#[test]
fn a_body_that_takes_its_time() {
    let (server, service) = plain();
    let mut client = Client::connect(&server);
    client.send("POST /api HTTP/1.1\r\nContent-Length: 4\r\n\r\nab");
    catch_up(&server);
    assert_eq!(server.admitted(), 1);
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(client.hears_nothing());
    assert_eq!(client.ask("cd").status, 200);
    assert_eq!(endings(&stop_and_check(server, &service)), [Ending::Answered]);
}

#[test]
fn a_client_that_wants_to_be_told_to_go_on() {
    let (server, service) = plain();
    let mut client = Client::connect(&server);
    client.send("POST /api HTTP/1.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(client.answer().status, 100);
    assert_eq!(client.ask("abcd").status, 200);
    assert_eq!(client.ask(get("/api")).status, 200);
    assert_eq!(stop_and_check(server, &service).rows.len(), 2);
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let service = Service { body_bytes: 3, ..faulty(vec![stall(Nanos::from_millis(100))]) };
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    let clock = "POST /clock HTTP/1.1\r\n\r\n";
    client.send([&get("/api"), &get("/healthy"), clock, "HEAD /api HTTP/1.1\r\n\r\n", &get("/api")].concat());
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.answer().status, 204);
    assert_eq!(client.answer_to_head().status, 200);
    assert_eq!(client.answer().body, b"oko");
    let truth = stop_and_check(server, &service);
    assert!(truth.rows[0].answered_ns >= Some(100_000_000), "what was behind it had to wait");
}

/// Sends far more requests than the server holds per connection.
#[test]
fn many_pipelined_requests() {
    for baseline in [Nanos::ZERO, Nanos::from_millis(2)] {
        let service = Service::healthy(baseline);
        let server = start(service.clone());
        let mut client = Client::connect(&server);
        client.send(get("/api").repeat(2000));
        for _ in 0..2000 {
            assert_eq!(client.answer().status, 200);
        }
        assert_eq!(stop_and_check(server, &service).totals.count(Ending::Answered), 2000);
    }
}

#[test]
fn requests_that_come_byte_by_byte() {
    let (server, service) = plain();
    let mut client = Client::connect(&server);
    let text = "\r\nPOST /api HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /api HTTP/1.1\n\n";
    for byte in text.bytes() {
        client.send([byte]);
    }
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.answer().status, 200);
    assert_eq!(stop_and_check(server, &service).rows.len(), 2);
}

#[test]
fn what_is_no_http_is_refused() {
    let refused =
        ["hello\r\n\r\n", "\x16\x03\x01\x02\x00\x01", "GET / HTTP/2.7\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"];
    // With the feature HTTP/2, the last text begins an HTTP/2 connection.
    let without = usize::from(cfg!(feature = "http2"));
    for text in &refused[..refused.len() - without] {
        let (server, service) = plain();
        let mut client = Client::connect(&server);
        let answer = client.ask(text);
        assert_eq!((answer.status, answer.field("Connection")), (400, Some("close")), "{text:?}");
        assert_eq!(client.until_end(), (vec![], End::Closed));
        let truth = stop_and_check(server, &service);
        assert_eq!((truth.rows.len(), truth.totals.refused), (0, 1));
    }
}

/// Invalid input is answered after the requests before it.
#[test]
fn a_refusal_waits_for_its_turn() {
    let (server, service) = plain();
    let mut client = Client::connect(&server);
    client.send([&get("/api"), "nonsense\r\n\r\n"].concat());
    assert_eq!((client.answer().status, client.answer().status), (200, 400));
    assert_eq!(client.until_end().1, End::Closed);
    assert_eq!(endings(&stop_and_check(server, &service)), [Ending::Answered]);
}

#[test]
fn a_body_that_is_no_body() {
    let (server, service) = plain();
    let mut client = Client::connect(&server);
    let answer = client.ask("POST /api HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nnot a chunk\r\n");
    assert_eq!(answer.status, 400);
    assert_eq!(client.until_end().1, End::Closed);
    let truth = stop_and_check(server, &service);
    assert_eq!((endings(&truth), truth.totals.refused), (vec![Ending::Dropped], 1));
}

#[test]
fn a_large_body() {
    let service = Service { body_bytes: 5_000_001, ..faulty(vec![]) };
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    client.send(get("/api").repeat(2));
    for _ in 0..2 {
        let body = client.answer().body;
        assert_eq!(body.len(), 5_000_001);
        assert!(body.chunks(2).all(|pair| b"ok".starts_with(pair)));
    }
    stop_and_check(server, &service);
}

#[test]
fn a_client_that_goes_while_it_is_held() {
    let service = faulty(vec![stall(FOR_EVER)]);
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    client.send(get("/api").repeat(3));
    catch_up(&server);
    drop(client);
    catch_up(&server);
    let mut other = Client::connect(&server);
    other.send(get("/api"));
    catch_up(&server);
    let truth = stop_and_check(server, &service);
    assert_eq!(endings(&truth), [Ending::ClientGone, Ending::ClientGone, Ending::ClientGone, Ending::Held]);
}
