//! One connection: requests in, responses out.

use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::Handler;
use super::connections::Connections;
use super::hosts::Hosts;
use super::request::{self, NoRequest, Request};
use super::response::{Body, EventSource, NextEvent, Response};

/// The longest time that a client may take for a response, or for one event of a stream.
const WRITE_TIME: Duration = Duration::from_secs(10);
/// How often a stream without events looks whether the server is ending.
const LOOK: Duration = Duration::from_millis(200);
/// After this time without an event a comment is sent, so that a client that has gone is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A page may hold its own script and style, and loads nothing from elsewhere. It is in no frame of another page.
const HEADERS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    img-src data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n";

/// Serves one connection until either side closes it.
pub(super) fn serve(stream: &TcpStream, number: u64, connections: &Connections, hosts: &Hosts, handler: &dyn Handler) {
    // A small response should not wait for an acknowledgement of the one before it.
    let _ = stream.set_nodelay(true);
    let mut pending = Vec::new();
    while connections.set_busy(number, false) {
        let served = match request::read(stream, &mut pending) {
            Ok(request) => {
                connections.set_busy(number, true);
                answer(stream, &request, connections, hosts, handler)
            }
            Err(NoRequest::Gone) => return,
            Err(NoRequest::Refused(status, why)) => {
                let _ = write_response(stream, Response::error(status, why), "GET", false, connections);
                return;
            }
        };
        if !matches!(served, Ok(true)) {
            return;
        }
    }
}

/// True if another request may follow.
fn answer(
    stream: &TcpStream,
    request: &Request,
    connections: &Connections,
    hosts: &Hosts,
    handler: &dyn Handler,
) -> io::Result<bool> {
    let response = match (hosts.objection(request), request.method.as_str()) {
        (Some(why), _) => Response::error(403, why),
        (None, "GET" | "HEAD" | "POST") => handler.handle(request),
        (None, _) => Response::error(405, "only GET, HEAD and POST are answered"),
    };
    write_response(stream, response, &request.method, request.keeps_alive, connections)
}

/// True if another request may follow.
fn write_response(
    stream: &TcpStream,
    response: Response,
    method: &str,
    keeps_alive: bool,
    connections: &Connections,
) -> io::Result<bool> {
    let Response { status, content_type, body } = response;
    let (length, keeps_alive) = match &body {
        Body::Whole(bytes) => (format!("Content-Length: {}\r\n", bytes.len()), keeps_alive),
        // A stream ends with its connection.
        Body::Events(_) => (String::new(), false),
    };
    let connection = if keeps_alive { "keep-alive" } else { "close" };
    let reason = reason(status);
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\n{length}Connection: {connection}\r\n{HEADERS}\r\n"
    );
    let deadline = Instant::now() + WRITE_TIME;
    write_until(stream, head.as_bytes(), deadline)?;
    match body {
        _ if method == "HEAD" => {}
        Body::Whole(bytes) => write_until(stream, &bytes, deadline)?,
        Body::Events(mut source) => write_events(stream, source.as_mut(), connections)?,
    }
    Ok(keeps_alive)
}

fn write_events(stream: &TcpStream, source: &mut dyn EventSource, connections: &Connections) -> io::Result<()> {
    let mut last = Instant::now();
    loop {
        let text = match source.next(LOOK) {
            NextEvent::Event(event) => event.to_wire(),
            NextEvent::End => return Ok(()),
            // The last event comes before the end, so a source that has none now has none any more.
            NextEvent::NotYet if connections.is_ending() => return Ok(()),
            NextEvent::NotYet if last.elapsed() >= KEEP_ALIVE => ":\n\n".to_owned(),
            NextEvent::NotYet => continue,
        };
        last = Instant::now();
        write_until(stream, text.as_bytes(), last + WRITE_TIME)?;
    }
}

/// Writes all of `bytes`, however little the client takes at a time, until `deadline`.
fn write_until(mut stream: &TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Unnamed",
    }
}
