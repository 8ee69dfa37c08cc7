//! One connection: requests in, responses out.

use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::Handler;
use super::connections::Connections;
use super::hosts::Hosts;
use super::no_request::NoRequest;
use super::request::{self, Request};
use super::response::{Body, EventSource, NextEvent, Response};

/// Time limit for writing a response, or one event of a stream.
const WRITE_TIME: Duration = Duration::from_secs(10);
/// Interval at which a stream without events checks whether the server is ending.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// Time without events after which a comment is sent, to detect that a client has gone.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A page may hold its own script and style, loads nothing from elsewhere, and is not shown in frames of other pages.
const HEADERS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    img-src data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action ";

/// Serves one connection until either side closes it.
pub(super) fn serve(stream: &TcpStream, number: u64, connections: &Connections, hosts: &Hosts, handler: &dyn Handler) {
    // Otherwise a small response would wait for the acknowledgement of the one before it.
    let _ = stream.set_nodelay(true);
    let mut pending = Vec::new();
    while connections.set_busy(number, None) {
        let served = match request::read(stream, &mut pending, handler.longest_body()) {
            Ok(request) => {
                connections.set_busy(number, Some(Instant::now()));
                answer(stream, &request, connections, hosts, handler)
            }
            Err(NoRequest::Gone) => return,
            Err(NoRequest::Refused(status, why)) => {
                handler.refused(None, status, why);
                let _ = write_response(stream, Response::error(status, why), "GET", false, connections);
                return;
            }
        };
        if !matches!(served, Ok(true)) {
            return;
        }
    }
}

/// Answers a request. Returns true if another request may follow.
fn answer(
    stream: &TcpStream,
    request: &Request,
    connections: &Connections,
    hosts: &Hosts,
    handler: &dyn Handler,
) -> io::Result<bool> {
    let refuse = |status, why| {
        handler.refused(Some(request), status, why);
        Response::error(status, why)
    };
    let response = match (hosts.objection(request), request.method.as_str()) {
        (Some(why), _) => refuse(403, why),
        (None, "GET" | "HEAD" | "POST") => handler.handle(request),
        (None, _) => refuse(405, "only GET, HEAD and POST are answered"),
    };
    write_response(stream, response, &request.method, request.keeps_alive, connections)
}

/// Writes a response. Returns true if another request may follow.
fn write_response(
    stream: &TcpStream,
    response: Response,
    method: &str,
    keeps_alive: bool,
    connections: &Connections,
) -> io::Result<bool> {
    let Response { status, content_type, body, has_forms } = response;
    let (length, keeps_alive) = match &body {
        Body::Whole(bytes) => (format!("Content-Length: {}\r\n", bytes.len()), keeps_alive),
        // A stream ends with its connection.
        Body::Events(_) => (String::new(), false),
    };
    let connection = if keeps_alive { "keep-alive" } else { "close" };
    let reason = reason(status);
    // Without a referrer within this site, a browser would send its forms without their origin.
    let (forms, referrer) = if has_forms { ("'self'", "same-origin") } else { ("'none'", "no-referrer") };
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\n{length}Connection: {connection}\r\n\
         Referrer-Policy: {referrer}\r\n{HEADERS}{forms}\r\n\r\n"
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
        let text = match source.next(CHECK_INTERVAL) {
            NextEvent::Event(event) => event.to_wire(),
            NextEvent::End => return Ok(()),
            // The last event precedes the end, so a source without an event now has no more events.
            NextEvent::NotYet if connections.is_ending() => return Ok(()),
            NextEvent::NotYet if last.elapsed() >= KEEP_ALIVE => ":\n\n".to_owned(),
            NextEvent::NotYet => continue,
        };
        last = Instant::now();
        write_until(stream, text.as_bytes(), last + WRITE_TIME)?;
    }
}

/// Writes all of `bytes` until `deadline`, even if the client takes only a little at a time.
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
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Unnamed",
    }
}
