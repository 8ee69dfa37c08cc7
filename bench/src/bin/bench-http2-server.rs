//! A minimal HTTP/2 server (prior knowledge) for comparing load generators, with one thread and one answer. It
//! ignores header fields, and its answers are too short to exhaust a flow-control window.
//!
//! `bench-http2-server ADDRESS [grpc]`: with `grpc`, each answer is that of a unary call.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use truetail_reactor::{Reactor, ReadinessEvents};

const LISTENER: u64 = 0;
const PREFACE: usize = 24;
const HEAD: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// Settings: 1,000 concurrent streams.
const SETTINGS_FRAME: [u8; 15] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0x03, 0xe8];
/// `:status: 200` and `content-type: text/plain`.
const FIELDS: &[u8] = b"\x88\x0f\x10\x0atext/plain";
const BODY: &[u8] = b"ok";
/// `:status: 200` and `content-type: application/grpc`.
const CALL_FIELDS: &[u8] = b"\x88\x0f\x10\x10application/grpc";
/// A message with one string, `hello world`, as its field 1.
const MESSAGE: &[u8] = b"\0\0\0\0\x0d\x0a\x0bhello world";
/// `grpc-status: 0`.
const CALL_TRAILERS: &[u8] = b"\0\x0bgrpc-status\x010";
/// Raises the connection's window to its maximum: bodies of requests may have 2 GiB in all.
const WINDOW_FRAME: [u8; 13] = [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0xff, 0, 0];

/// Writes the answer on a stream.
type Answer = fn(&mut Vec<u8>, [u8; 4]);

struct Connection {
    stream: TcpStream,
    /// Bytes that were read but not used yet.
    rest: Vec<u8>,
    greeted: bool,
}

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let answer = if std::env::args().nth(2).is_some_and(|kind| kind == "grpc") { answer_call } else { answer_request };
    let listener = TcpListener::bind(&address)?;
    listener.set_nonblocking(true)?;
    println!("http://{}/", listener.local_addr()?);
    let reactor = Reactor::new()?;
    reactor.add(&listener, LISTENER)?;
    let mut events = ReadinessEvents::with_capacity(256);
    let mut connections: Vec<Option<Connection>> = vec![None];
    let (mut buffer, mut out) = (vec![0; 64 * 1024], Vec::new());
    loop {
        reactor.wait(&mut events, None)?;
        for event in events.iter() {
            if event.token == LISTENER {
                accept(&listener, &reactor, &mut connections)?;
            } else if let Some(connection) = &mut connections[event.token as usize]
                && !serve(connection, answer, &mut buffer, &mut out)
            {
                connections[event.token as usize] = None;
            }
        }
    }
}

fn accept(listener: &TcpListener, reactor: &Reactor, connections: &mut Vec<Option<Connection>>) -> io::Result<()> {
    while let Ok((stream, _)) = listener.accept() {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        reactor.add(&stream, connections.len() as u64)?;
        connections.push(Some(Connection { stream, rest: Vec::new(), greeted: false }));
    }
    Ok(())
}

/// Answers every request that has arrived, with one write per read. Returns true if the connection stays open.
fn serve(connection: &mut Connection, answer: Answer, buffer: &mut [u8], out: &mut Vec<u8>) -> bool {
    loop {
        let n = match connection.stream.read(buffer) {
            Ok(0) => return false,
            Ok(n) => n,
            Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
        };
        connection.rest.extend_from_slice(&buffer[..n]);
        out.clear();
        serve_frames(connection, answer, out);
        // Assumes that the socket accepts the whole answer: no client of this benchmark waits for more than that.
        if connection.stream.write_all(out).is_err() {
            return false;
        }
    }
}

fn serve_frames(connection: &mut Connection, answer: Answer, out: &mut Vec<u8>) {
    let mut at = 0;
    if !connection.greeted {
        if connection.rest.len() < PREFACE {
            return;
        }
        (connection.greeted, at) = (true, PREFACE);
        out.extend_from_slice(&SETTINGS_FRAME);
        out.extend_from_slice(&WINDOW_FRAME);
    }
    while let Some(head) = connection.rest[at..].first_chunk::<HEAD>() {
        let [a, b, c, kind, flags, stream @ ..] = *head;
        let end = at + HEAD + u32::from_be_bytes([0, a, b, c]) as usize;
        if connection.rest.len() < end {
            break;
        }
        match (kind, flags & 1) {
            (HEADERS | DATA, END_STREAM) => answer(out, stream),
            (SETTINGS, 0) => put(out, SETTINGS, ACK, [0; 4], &[]),
            (PING, 0) => put(out, PING, ACK, [0; 4], &connection.rest[at + HEAD..end]),
            _ => {}
        }
        at = end;
    }
    connection.rest.drain(..at);
}

fn answer_request(out: &mut Vec<u8>, stream: [u8; 4]) {
    put(out, HEADERS, END_HEADERS, stream, FIELDS);
    put(out, DATA, END_STREAM, stream, BODY);
}

fn answer_call(out: &mut Vec<u8>, stream: [u8; 4]) {
    put(out, HEADERS, END_HEADERS, stream, CALL_FIELDS);
    put(out, DATA, 0, stream, MESSAGE);
    put(out, HEADERS, END_HEADERS | END_STREAM, stream, CALL_TRAILERS);
}

fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: [u8; 4], payload: &[u8]) {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind, flags]);
    out.extend_from_slice(&stream);
    out.extend_from_slice(payload);
}
