use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::*;

fn echo(request: &Request) -> Response {
    match request.path.as_str() {
        "/" => Response::html("<p>hello</p>"),
        "/echo" => Response::json(format!("{} {} {}", request.method, request.query, request.body.len())),
        "/large" => Response::text("text/plain", "x".repeat(64 << 20)),
        "/panic" => panic!("as a bug in a handler would"),
        _ => Response::error(404, "there is no such page"),
    }
}

fn server() -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    Server::start(listener, Arc::new(echo)).unwrap()
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Sends `bytes`, and returns the server's output until it closes the connection.
fn exchange(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = connect(address);
    // The server may refuse a request before all of it was sent.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

fn get(address: SocketAddr, path: &str) -> String {
    exchange(address, format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[test]
fn pages_queries_and_bodies() {
    let server = server();
    let page = get(server.address(), "/");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with("\r\n\r\n<p>hello</p>"), "{page}");
    assert!(page.contains("Content-Length: 12\r\n") && page.contains("frame-ancestors 'none'"), "{page}");
    assert!(!page.to_ascii_lowercase().contains("access-control"), "{page}");
    assert!(get(server.address(), "/echo?a=1").ends_with("GET a=1 0"));
    assert_eq!(status(&get(server.address(), "/other")), "404");
    let head = exchange(server.address(), b"HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(head.contains("Content-Length: 12\r\n") && head.ends_with("\r\n\r\n"), "{head}");
}

#[test]
fn requests_on_one_connection_are_answered_in_turn() {
    let server = server();
    let both = b"POST /echo HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 3\r\n\r\nabcGET /echo?last HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n";
    let answer = exchange(server.address(), both);
    assert!(answer.contains("POST  3HTTP/1.1 200 OK") && answer.ends_with("GET last 0"), "{answer}");
}

#[test]
fn a_body_may_come_in_chunks() {
    let server = server();
    let head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: Chunked\r\n";
    let next = "GET /echo?last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let long = "x".repeat(70_000);
    let request = format!("{head}\r\n2;a=b\r\nab\r\n{:X}\r\n{long}\r\n0\r\nTrailer: 1\r\n\r\n{next}", long.len());
    let answer = exchange(server.address(), request.as_bytes());
    assert!(answer.contains("POST  70002HTTP/1.1 200 OK") && answer.ends_with("GET last 0"), "{answer}");
}

/// Of a long body no memory stays with the connection, and what came after it does.
#[test]
fn a_connection_keeps_no_room_for_a_body() {
    const LENGTH: usize = 3 << 20;
    let ones = "1\r\nx\r\n".repeat(LENGTH / 16);
    let known = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {LENGTH}\r\n\r\n{}", "x".repeat(LENGTH));
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = format!("{head}{LENGTH:x}\r\n{}\r\n0\r\n\r\n", "x".repeat(LENGTH));
    for (sent, length) in [(known, LENGTH), (chunk, LENGTH), (format!("{head}{ones}0\r\n\r\n"), LENGTH / 16)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = connect(listener.local_addr().unwrap());
        let (stream, _) = listener.accept().unwrap();
        let sending = std::thread::spawn(move || {
            client.write_all(format!("{sent}GET /next HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
            client
        });
        let mut pending = Vec::new();
        let request = request::read(&stream, &mut pending, 4 << 20).unwrap();
        assert!(request.body.len() == length && request.body.iter().all(|byte| *byte == b'x'), "{length}");
        assert!(pending.capacity() <= 16 << 10, "{} bytes", pending.capacity());
        assert!(request.body.capacity() < length + length / 8, "{} bytes", request.body.capacity());
        assert_eq!(request::read(&stream, &mut pending, 0).unwrap().path, "/next");
        drop(sending.join());
    }
}

/// Handler that writes down what the server refused without it.
struct Refusals(Mutex<Vec<(Option<String>, u16)>>);

impl Handler for Refusals {
    fn handle(&self, _: &Request) -> Response {
        Response::error(415, "send something else")
    }

    fn refused(&self, request: Option<&Request>, status: u16, why: &str) {
        assert!(!why.is_empty());
        self.0.lock().unwrap().push((request.map(|request| request.path.clone()), status));
    }
}

#[test]
fn a_handler_is_told_of_what_was_refused_without_it() {
    let refusals = Arc::new(Refusals(Mutex::default()));
    let handler = Arc::clone(&refusals) as Arc<dyn Handler>;
    let server = Server::start(TcpListener::bind("127.0.0.1:0").unwrap(), handler).unwrap();
    for (request, status_line) in [
        (
            "POST /a HTTP/1.1\r\nHost: host.docker.internal:4318\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 403 Forbidden\r\n",
        ),
        ("PUT /b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 505 HTTP Version Not Supported\r\n"),
        ("POST /c HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 415 Unsupported Media Type\r\n"),
    ] {
        let answer = exchange(server.address(), request.as_bytes());
        assert!(answer.starts_with(status_line), "{answer}");
    }
    let expected = [(Some("/a".to_owned()), 403), (Some("/b".to_owned()), 405), (None, 505)];
    assert_eq!(*refusals.0.lock().unwrap(), expected);
}

#[test]
fn what_is_no_request_is_refused() {
    let server = server();
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(20_000));
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(100));
    let trailers = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{}\r\n",
        "X: y\r\n".repeat(2_000)
    );
    for (request, expected) in [
        ("\x16\x03\x01 garbage\r\n\r\n", "400"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"),
        ("GET / HTTP/1.1\r\n\r\n", "403"),
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n", "403"),
        ("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "411"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", "411"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n", "413"),
        (trailers.as_str(), "431"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n", "413"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400"),
        (long.as_str(), "431"),
        (many.as_str(), "431"),
    ] {
        // Requests that are refused only for their content leave the connection open.
        let request = request.replace("Host:", "Connection: close\r\nHost:");
        let answer = exchange(server.address(), request.as_bytes());
        assert_eq!(status(&answer), expected, "{request} -> {answer}");
    }
    assert_eq!(status(&get(server.address(), "/")), "200");
}

#[test]
fn a_handler_that_panics_costs_its_own_connection_only() {
    let server = server();
    assert_eq!(get(server.address(), "/panic"), "");
    assert_eq!(status(&get(server.address(), "/")), "200");
}

#[test]
fn events_are_sent_at_once_and_the_last_before_the_end() {
    let (send, events) = channel();
    let events = Mutex::new(Some(events));
    let handler = move |_: &Request| Response::events(events.lock().unwrap().take().expect("one client"));
    let server = Server::start(TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(handler)).unwrap();
    let mut stream = connect(server.address());
    stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    send.send(Event { name: "update", data: "{}\nid: 7\r\rx".into() }).unwrap();
    let mut seen = Vec::new();
    let mut chunk = [0; 1024];
    while !String::from_utf8_lossy(&seen).ends_with("event: update\ndata: {}\ndata: id: 7\ndata: \ndata: x\n\n") {
        let read = stream.read(&mut chunk).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&chunk[..read]);
    }
    send.send(Event { name: "end", data: "x".repeat(1 << 20).into() }).unwrap();
    drop(send);
    let reader = std::thread::spawn(move || {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap();
        rest
    });
    server.end(Duration::from_secs(20));
    let rest = reader.join().unwrap();
    assert!(rest.starts_with("event: end\n") && rest.len() > 1 << 20, "{} bytes", rest.len());
}

/// Raises the limit, because both ends of the connections are in this process.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Clients that send nothing, send half a request or read nothing do not lock out other clients.
#[test]
fn a_thousand_hostile_connections() {
    raise_file_limit();
    let server = server();
    let mut hostile = Vec::new();
    for i in 0..1000 {
        let mut stream = connect(server.address());
        let _ = match i % 4 {
            0 => Ok(()),
            1 => stream.write_all(b"GET / HT"),
            2 => stream.write_all(&[0xff; 300]),
            _ => stream.write_all(b"GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        };
        hostile.push(stream);
    }
    // A request in progress holds its place for a moment.
    let deadline = Instant::now() + Duration::from_secs(60);
    while status(&get(server.address(), "/")) != "200" {
        assert!(Instant::now() < deadline, "nobody is answered any more");
    }
    drop(server);
}

/// The oldest connection without a complete request is closed at once, so the next client does not have to wait.
#[test]
fn halves_of_requests_keep_nobody_out() {
    raise_file_limit();
    let server = server();
    let halves =
        ["GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\nX:", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf"];
    let slow: Vec<_> = (0..300)
        .map(|i| {
            let mut stream = connect(server.address());
            let _ = stream.write_all(halves[i % halves.len()].as_bytes());
            stream
        })
        .collect();
    for _ in 0..10 {
        assert_eq!(status(&get(server.address(), "/")), "200");
    }
    drop(slow);
}

#[test]
fn it_ends_though_clients_read_nothing() {
    let server = server();
    let address = server.address();
    let stuck: Vec<_> = (0..8)
        .map(|_| {
            let mut stream = connect(address);
            stream.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            // The response has begun, so the server is busy with it.
            stream.read_exact(&mut [0; 15]).unwrap();
            stream
        })
        .collect();
    let connections = Arc::clone(&server.connections);
    server.end(Duration::from_millis(100));
    connections.wait_until_empty(Duration::from_secs(30));
    assert!(connections.is_empty());
    assert!(TcpStream::connect(address).is_err());
    drop(stuck);
}
